import { describe, expect, test } from '@jest/globals';
import { ageInWords, candidatesFor, interruptedByHostLoss } from '../../src/decide/index.ts';
import type { InstanceFacts } from '../../src/index.ts';
import {
  answers,
  BASE,
  container,
  ENDED,
  type FactChange,
  factsOf,
  NOW,
  OWNER,
  RUNNING,
} from './fixtures.ts';

const TARGET = {
  workspaceName: 'proj',
  hostWorkdirFingerprint: 'sha256:abc',
  roleKey: 'the-architect',
  agent: 'claude',
};
const GONE = { container: { state: 'missing' } } as const;
const named = (id: string, change: FactChange = {}): InstanceFacts =>
  factsOf('docker', {
    ...change,
    manifest: { instance_id: id, container_base: `jk-${id}-proj-thearchitect`, ...change.manifest },
    ...(typeof change.record === 'object' ? { record: { instance_id: id, ...change.record } } : {}),
  });
const ids = (facts: InstanceFacts[], target = TARGET) =>
  candidatesFor(target, facts, NOW).map(({ instance_id }) => instance_id);

describe('candidates of a launch', () => {
  test('are of the same workspace, role and agent', () => {
    const facts = [
      named('aaaaaaaa'),
      named('bbbbbbbb', { manifest: { workspace_name: 'other' } }),
      named('cccccccc', { manifest: { role_key: 'other' } }),
      named('dddddddd', { manifest: { agent_runtime: 'codex' } }),
    ];
    expect(ids(facts)).toEqual(['aaaaaaaa']);
  });

  test('of an ad-hoc directory are told by its fingerprint', () => {
    const facts = [
      named('aaaaaaaa', { manifest: { workspace_name: null } }),
      named('bbbbbbbb', { manifest: { workspace_name: null, host_workdir_fingerprint: 'sha256:zzz' } }),
      named('cccccccc'),
    ];
    expect(ids(facts, { ...TARGET, workspaceName: null as never })).toEqual(['aaaaaaaa']);
  });

  test('come newest first, running ones included', () => {
    const facts = [
      named('aaaaaaaa', { record: { code: 3, at: '2026-03-01T10:00:00.000Z' }, heartbeat: 'absent' }),
      named('bbbbbbbb', {
        observation: { container: RUNNING },
        capsule: answers(true),
        manifest: { updated_at: ENDED },
      }),
      named('cccccccc', { record: { code: 3, at: '2026-03-01T11:00:00.000Z' }, heartbeat: 'absent' }),
    ];
    expect(ids(facts)).toEqual(['bbbbbbbb', 'cccccccc', 'aaaaaaaa']);
  });

  test('leave out what cannot come back at all', () => {
    const facts = [
      named('aaaaaaaa', { manifest: { status: 'superseded' } }),
      named('bbbbbbbb', { manifest: { status: 'purged' } }),
      named('cccccccc', { data_dir: 'no' }),
    ];
    expect(ids(facts)).toEqual([]);
  });

  test.each([
    ['running', 'ready', { observation: { container: RUNNING }, capsule: answers(true) }],
    ['running, agent ended', 'ready', { observation: { container: RUNNING }, capsule: answers(false) }],
    ['running, agent not known', 'capsule does not answer', { observation: { container: RUNNING } }],
    [
      'in use: load',
      'starting',
      { manifest: { status: 'active' }, lock: { state: 'held', owner: OWNER }, observation: GONE },
    ],
    [
      'in use: load',
      'in use by another command',
      { lock: { state: 'held', owner: OWNER }, observation: GONE },
    ],
    ['interrupted by engine loss', 'ready', { engine_run: 'changed' }],
    ['interrupted by host loss', 'ready', { boot: 'changed' }],
    ['agent crashed (code 3)', 'ready', { record: { code: 3 } }],
    ['ended, not finished', 'ready', { record: { code: 0 } }],
    ['container gone', 'ready', { observation: GONE }],
    [
      'kept, clean',
      'ready',
      { manifest: { status: 'restore_available', keep: { intent: 'policy', at: ENDED } }, observation: GONE },
    ],
    ['kept, uncommitted work', 'ready', { manifest: { status: 'preserved_dirty' }, observation: GONE }],
    ['running', 'engine unreachable', { engine: { state: 'unreachable', endpoint: 'x', reason: 'down' } }],
    ['running', 'other engine', { engine_matches: 'no', observation: GONE }],
    [
      'running',
      'name taken by a foreign container',
      { observation: { container: { state: 'foreign', name: BASE } } },
    ],
    [
      'container gone',
      'image gone',
      {
        observation: {
          ...GONE,
          image: {
            by_id: { state: 'missing' },
            by_keep_tag: { state: 'missing' },
            by_tag: { state: 'missing' },
          },
        },
      },
    ],
    [
      'supervisor crashed',
      'ready with losses',
      { observation: { container: container({ startable: { ok: false, reason: 'no network' } }) } },
    ],
  ] as [string, string, FactChange][])('say "%s", %s', (what, readiness, change) => {
    expect(candidatesFor(TARGET, [factsOf('docker', change)], NOW)).toMatchObject([{ what, readiness }]);
  });

  test('say when an exit flow is still pending', () => {
    const rows = candidatesFor(
      TARGET,
      [named('aaaaaaaa', { record: { code: 0 } }), named('bbbbbbbb', { record: { code: 3 } })],
      NOW,
    );
    expect(rows.map(({ exit_pending }) => exit_pending)).toEqual([true, false]);
  });
});

test('what the last host loss interrupted is what resume --all brings back', () => {
  const facts = [named('aaaaaaaa', { boot: 'changed' }), named('bbbbbbbb', { record: { code: 3 } })];
  expect(interruptedByHostLoss(facts, NOW).map(({ instance_id }) => instance_id)).toEqual(['aaaaaaaa']);
});

test.each([
  ['2026-03-01T11:59:30Z', 'just now'],
  ['2026-03-01T11:55:00Z', '5m ago'],
  ['2026-03-01T10:00:00Z', '2h ago'],
  ['2026-02-26T12:00:00Z', '3d ago'],
  ['2026-03-01T13:00:00Z', 'just now'],
  ['garbage', 'at an unknown time'],
])('the age of %s is %s', (since, age) => {
  expect(ageInWords(since, NOW)).toBe(age);
});
