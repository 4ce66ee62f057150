import { describe, expect, test } from '@jest/globals';
import { planRestore, type RestorePlan } from '../../src/decide/index.ts';
import type { ImageFact, InstanceFacts, Plan } from '../../src/index.ts';
import {
  answers,
  BASE,
  CALL,
  causeOf,
  container,
  ENDED,
  type FactChange,
  factsOf,
  IMAGE,
  NOW,
  OWNER,
  RUNNING,
  SESSION,
  STARTED,
} from './fixtures.ts';

const GONE = { container: { state: 'missing' } } as const;
const present = (image_id: string): ImageFact => ({ state: 'present', image_id });
const missing: ImageFact = { state: 'missing' };

const RAN = {
  session_id: 's1',
  name: 'claude',
  agent_runtime: 'claude',
  tmux_name: '',
  created_at: STARTED,
  status: 'ended',
};

const restore = (facts: InstanceFacts, more: { startFailure?: string; changedPaths?: string[] } = {}) =>
  planRestore({ ...CALL, facts, session: SESSION, ...more });
const docker = (change: FactChange) => restore(factsOf('docker', change));

function planOf(result: RestorePlan): Plan {
  if (result.outcome === 'blocked') throw result.error;
  return result.plan;
}
const ops = (result: RestorePlan) => planOf(result).steps.map((step) => step.op);
const codeOf = (result: RestorePlan) => (result.outcome === 'blocked' ? result.error.code : result.outcome);

describe('tier 0', () => {
  test('a living agent is reconnected to and nothing is lost', () => {
    const result = docker({ observation: { container: RUNNING }, capsule: answers(true) });
    expect(ops(result)).toEqual(['reconnect']);
    expect(planOf(result)).toMatchObject({ tier: 0, did_not_return: [] });
  });

  test('a record that lags behind is brought to running, without the cause of an end', () => {
    const manifest = {
      status: 'crashed',
      exit_cause: causeOf('agent_crash'),
    } as const;
    const result = docker({ manifest, observation: { container: RUNNING }, capsule: answers(true) });
    expect(planOf(result).steps[0]).toMatchObject({
      op: 'record_status',
      status: 'running',
      exit_cause: null,
    });
  });

  test('a living agent can be joined while another process holds the lock', () => {
    const lock = { state: 'held', owner: OWNER } as const;
    const result = docker({ lock, observation: { container: RUNNING }, capsule: answers(true) });
    expect(ops(result)).toEqual(['reconnect']);
  });

  test('an agent that ended is started again in the same container', () => {
    const result = docker({ observation: { container: RUNNING }, capsule: answers(false) });
    expect(ops(result)).toEqual(['record_status', 'start_session', 'record_status']);
    expect(planOf(result)).toMatchObject({ tier: 0, did_not_return: ['agent_process'] });
    expect(planOf(result).returns).toContain('writable_layer');
  });

  test('a capsule that does not answer is no reason to start a second container', () => {
    expect(codeOf(docker({ observation: { container: RUNNING } }))).toBe('CAPSULE_SILENT');
  });
});

describe('tier 1', () => {
  test('a stopped container is started after what is missing around it was made again', () => {
    const result = docker({ observation: { network: 'missing', volume: 'missing' }, record: { code: 3 } });
    expect(ops(result)).toEqual([
      'record_status',
      'prepare_socket_dir',
      'write_agent_config',
      'create_resources',
      'start_container',
      'start_session',
      'record_status',
    ]);
    expect(planOf(result).tier).toBe(1);
  });

  test('the reason it ended is kept until the session runs again', () => {
    const steps = planOf(docker({ record: { code: 3 } })).steps;
    expect(steps[0]).toMatchObject({ status: 'active', exit_cause: { kind: 'agent_crash', exit_code: 3 } });
    expect(steps.at(-1)).toMatchObject({ status: 'running', exit_cause: null, keep: null });
  });

  test('a standalone instance that was stopped or kept comes back as tier 1', () => {
    const stopped = restore(factsOf('standalone', { manifest: { status: 'stopped' } }));
    const manifest = { status: 'restore_available', backend: { standalone: null } } as const;
    const kept = restore(factsOf('standalone', { manifest, observation: GONE }));
    expect([planOf(stopped).tier, planOf(kept).tier]).toEqual([1, 1]);
  });

  test.each([
    ['an agent was alive at the last heartbeat', {}, ['live_processes']],
    ['the heartbeat cannot be read', { heartbeat: 'unreadable' }, ['live_processes']],
    [
      'processes outlived the capsule',
      { heartbeat: 'absent', observation: { leftover_pids: [9] } },
      ['live_processes'],
    ],
    ['the agent had ended by itself', { record: { code: 3 } }, []],
    ['no agent was alive at the last heartbeat', { heartbeat: { sessions: [] } }, []],
    ['nothing ever ran', { heartbeat: 'absent' }, []],
  ] as [string, FactChange, string[]][])('live processes, when %s', (_title, change, lost) => {
    expect(planOf(restore(factsOf('standalone', change))).did_not_return).toEqual(lost);
  });

  test('processes that outlived a standalone capsule are ended before it starts again', () => {
    const result = restore(factsOf('standalone', { observation: { leftover_pids: [9] } }));
    expect(ops(result).slice(0, 3)).toEqual(['record_status', 'end_leftovers', 'prepare_socket_dir']);
  });

  test('a container that is removed between the look and its start is not replaced by an empty one', () => {
    const step = (kind: 'docker' | 'standalone') =>
      planOf(restore(factsOf(kind, { observation: { container: container() } }))).steps.find(
        ({ op }) => op === 'create_resources',
      );
    expect(step('docker')).toMatchObject({
      requires: [{ fact: 'container', in: ['stopped'] }],
      recipe: { image_id: IMAGE },
    });
    expect(step('standalone')).toMatchObject({ requires: [] });
  });

  test('a standalone project that is gone blocks, because no lower tier could bring it back', () => {
    const gone = container({ startable: { ok: false, reason: '/srv/proj is gone' } });
    const result = restore(factsOf('standalone', { observation: { container: gone } }));
    expect(codeOf(result)).toBe('START_FAILED');
  });
});

describe('tier 2', () => {
  test('a missing container is made again from the recorded image on the same names', () => {
    const result = docker({ observation: GONE });
    expect(planOf(result)).toMatchObject({ tier: 2, did_not_return: ['live_processes', 'writable_layer'] });
    expect(planOf(result).steps.find((step) => step.op === 'create_resources')).toMatchObject({
      recipe: { image_id: IMAGE },
    });
  });

  test('the keep tag stands in when the id is not known any more', () => {
    const image = { by_id: missing, by_keep_tag: present(IMAGE), by_tag: missing };
    expect(planOf(docker({ observation: { ...GONE, image } })).tier).toBe(2);
  });

  test('an empty writable layer is not reported lost, a missing sidecar loses its images', () => {
    const facts = factsOf('docker', {
      observation: { ...GONE, sidecar: { state: 'missing' } },
      record: { code: 3 },
    });
    expect(planOf(restore(facts, { changedPaths: [] })).did_not_return).toEqual(['sidecar_images']);
    expect(planOf(restore(facts, { changedPaths: ['/root/.bashrc'] })).did_not_return).toContain(
      'writable_layer',
    );
  });

  test.each([
    ['an agent ran', 'running', ['live_processes']],
    ['none was ever started', 'ended', []],
  ])('a capsule ended by a signal ended what ran before its last heartbeat: %s', (_title, status, lost) => {
    const session = {
      session_id: 's1',
      name: 'claude',
      agent_runtime: 'claude',
      tmux_name: '',
      created_at: STARTED,
      status,
    };
    const facts = factsOf('docker', {
      manifest: { sessions: [session] },
      record: { ended_by: 'signal', code: null },
      heartbeat: { sessions: [] },
    });
    expect(planOf(restore(facts)).did_not_return).toEqual(lost);
  });

  test('a layer that went with a container we removed is reported lost unless it was empty', () => {
    const removed = (changed_paths: number) =>
      factsOf('docker', {
        manifest: { removed_layer: { changed_paths, at: ENDED } },
        observation: GONE,
        record: { code: 0 },
      });
    expect(planOf(restore(removed(0))).did_not_return).toEqual([]);
    expect(planOf(restore(removed(2))).did_not_return).toEqual(['writable_layer']);
  });

  test('a container that cannot start is passed over only with consent, renamed and not removed', () => {
    const broken = container({ startable: { ok: false, reason: 'network net-1 is gone' } });
    const result = docker({ observation: { container: broken } });
    expect(result).toMatchObject({ outcome: 'needs_consent', plan: { tier: 2 } });
    expect(result.outcome === 'needs_consent' && result.reason).toContain('network net-1 is gone');
    expect(planOf(result).steps[1]).toMatchObject({
      op: 'rename_container',
      to: `${BASE}-before-${NOW.replace(/\D/g, '').slice(0, 14)}`,
    });
    expect(ops(result).filter((op) => op.startsWith('remove'))).toEqual([]);
  });

  test('a mount source that is gone blocks: a new container would need it too, and lose the layer besides', () => {
    const broken = container({ startable: { ok: false, reason: '/srv/proj is gone', anew: true } });
    const result = docker({ observation: { container: broken } });
    expect(codeOf(result)).toBe('MOUNT_SOURCE_MISSING');
  });

  test('an instance whose engine was never recorded is made again only with consent', () => {
    expect(docker({ engine_matches: 'unknown', observation: GONE })).toMatchObject({
      outcome: 'needs_consent',
      reason: 'whether its container exists on another engine is not known',
    });
  });

  test.each([missing, present(IMAGE)])(
    'a session that failed before it had an image is built as its launch would have been, and loses nothing',
    (byTag) => {
      const image = { by_id: missing, by_keep_tag: missing, by_tag: byTag };
      const facts = factsOf('docker', {
        heartbeat: { sessions: [] },
        manifest: { status: 'failed_setup' },
        observation: { ...GONE, image },
      });
      delete facts.manifest.image_id;
      if (facts.manifest.recipe) facts.manifest.recipe.image_id = null;
      facts.manifest.sessions = [];
      const result = restore(facts);
      expect(result).toMatchObject({ outcome: 'plan', plan: { tier: 2, did_not_return: [] } });
      const create = planOf(result).steps.find((step) => step.op === 'create_resources');
      expect(create).toMatchObject({ recipe: { image_id: null } });
      // One that ran had an image.
      facts.manifest.sessions = [RAN];
      expect(codeOf(restore(facts))).toBe(byTag.state === 'missing' ? 'IMAGE_GONE' : 'needs_consent');
    },
  );

  test('a tag is trusted without a recorded id only with consent', () => {
    const facts = factsOf('docker', { manifest: { sessions: [RAN] }, observation: GONE });
    delete facts.manifest.image_id;
    if (facts.manifest.recipe) facts.manifest.recipe.image_id = null;
    expect(restore(facts)).toMatchObject({ outcome: 'needs_consent', plan: { tier: 2 } });
  });
});
