import { indexRowSchema } from '@jackin/instance';
import { describe, expect, test } from '@jest/globals';
import { type CleanConsent, planClean, planFinishClean, requiredConsent } from '../../src/decide/index.ts';
import type { InstanceFacts, IsolatedMountFact } from '../../src/index.ts';
import { answers, BASE, CALL, type FactChange, factsOf, IMAGE, OWNER, RUNNING } from './fixtures.ts';

const GONE = { container: { state: 'missing' } } as const;
const mount = (verdict: IsolatedMountFact['verdict']): IsolatedMountFact => ({
  mount_dst: '/w',
  kind: 'clone',
  path: '/data/w',
  verdict,
  reason: 'reason',
});

const purge = (facts: InstanceFacts, consent: CleanConsent) =>
  planClean({ ...CALL, facts, purpose: 'purge', consent });
const exit = (facts: InstanceFacts) => planClean({ ...CALL, facts, purpose: 'exit', consent: 'none' });
const codeOf = (plan: () => unknown) => {
  try {
    plan();
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return 'planned';
};

describe('the order of a clean-up', () => {
  test('is status, engine resources, isolated trees, data, sockets, lock, row', () => {
    const facts = factsOf('docker', {
      isolated: [mount('clean')],
      observation: {
        container: RUNNING,
        image: {
          by_id: { state: 'present', image_id: IMAGE },
          by_keep_tag: { state: 'present', image_id: IMAGE },
          by_tag: { state: 'missing' },
        },
      },
      capsule: answers(false),
    });
    expect(exit(facts).steps.map((step) => step.op)).toEqual([
      'record_status',
      'stop_container',
      'remove_container',
      'remove_sidecar',
      'remove_volume',
      'remove_network',
      'remove_keep_tag',
      'remove_isolated_trees',
      'remove_data_dir',
      'remove_socket_dir',
      'remove_lock',
      'remove_index_row',
    ]);
  });

  test('ends what outlived a standalone capsule before anything is removed', () => {
    const plan = exit(factsOf('standalone', { observation: { leftover_pids: [9] } }));
    expect(plan.steps.map((step) => step.op)).toEqual([
      'record_status',
      'end_leftovers',
      'remove_container',
      'remove_data_dir',
      'remove_socket_dir',
      'remove_lock',
      'remove_index_row',
    ]);
  });

  test('leaves a foreign network and volume alone', () => {
    const plan = exit(factsOf('docker', { observation: { network: 'foreign', volume: 'foreign' } }));
    expect(plan.steps.map((step) => step.op)).not.toContain('remove_network');
    expect(plan.steps.map((step) => step.op)).not.toContain('remove_volume');
  });
});

describe('the look that justified it', () => {
  test('is held against the moment of execution in the first step', () => {
    const [first] = exit(factsOf('docker', { isolated: [mount('dirty')] })).steps;
    expect(first?.requires).toEqual([
      { fact: 'status', in: ['running'] },
      { fact: 'container', in: ['stopped'] },
      { fact: 'no_agent_alive' },
      { fact: 'isolated', verdicts: { '/w': 'dirty' } },
    ]);
  });

  test('a purge of a stopped instance does not accept one that runs by now', () => {
    const [first] = purge(factsOf('standalone'), 'yes').steps;
    expect(first?.requires).toContainEqual({ fact: 'container', in: ['stopped'] });
  });

  test('a purge of a running instance accepts that it came to rest meanwhile', () => {
    const facts = factsOf('standalone', { observation: { container: RUNNING }, capsule: answers(true) });
    const plan = purge(facts, 'yes');
    expect(plan.steps[0]?.requires).toContainEqual({ fact: 'container', in: ['running', 'stopped'] });
    expect(plan.steps.slice(1, 3).map((step) => step.op)).toEqual(['stop_container', 'end_leftovers']);
  });

  test('no data goes while the container may run', () => {
    const data = purge(factsOf('docker'), 'yes').steps.find((step) => step.op === 'remove_data_dir');
    expect(data?.requires).toEqual([{ fact: 'container', in: ['stopped', 'missing'] }]);
  });
});

describe('consent', () => {
  const treeGone = { ...mount('unknown'), present: 'no', record: { base_commit: 'base' } };
  test.each([
    ['yes', {}],
    ['yes', { isolated: [mount('clean')] }],
    ['force', { isolated: [mount('dirty')] }],
    ['force', { isolated: [mount('unpushed')] }],
    ['named', { isolated: [mount('unknown')] }],
    ['named', { data_dir: 'unknown' }],
    ['named', { observation: { network: 'unknown' } }],
    ['named', { observation: { sidecar: { state: 'unreachable', reason: '500' } } }],
    ['named', { engine_matches: 'unknown', observation: GONE }],
    ['yes', { manifest: { status: 'purged' }, isolated: [{ ...mount('unknown'), present: 'no' }] }],
    ['yes', { manifest: { status: 'purged' }, isolated: [{ ...treeGone, branch_commit: 'base' }] }],
    ['yes', { manifest: { status: 'purged' }, isolated: [{ ...treeGone, branch_commit: null }] }],
    ['force', { manifest: { status: 'purged' }, isolated: [{ ...treeGone, branch_commit: 'more' }] }],
    // What was agreed to when the clean-up began may have been another tree.
    ['named', { manifest: { status: 'purged' }, isolated: [mount('unknown')] }],
    ['force', { manifest: { status: 'purged' }, isolated: [{ ...mount('dirty'), present: 'yes' }] }],
    ['yes', { manifest: { status: 'purged' }, isolated: [mount('clean')] }],
  ] as [CleanConsent, FactChange][])('of at least %s is needed for %j', (needed, change) => {
    const facts = factsOf('docker', change);
    const levels: CleanConsent[] = ['none', 'yes', 'force', 'named'];
    const code = { yes: 'CONFIRMATION_NEEDED', force: 'WORK_AT_RISK', named: 'WORK_UNKNOWN', none: '' }[
      needed
    ];
    expect(requiredConsent(facts)).toBe(needed);
    for (const level of levels) {
      const enough = levels.indexOf(level) >= levels.indexOf(needed);
      expect(codeOf(() => purge(facts, level))).toBe(enough ? 'planned' : code);
    }
  });

  test('typed by name also tries what could not be seen, so that nothing is left', () => {
    const plan = purge(factsOf('docker', { observation: { network: 'unknown' } }), 'named');
    expect(plan.steps.map((step) => step.op)).toContain('remove_network');
  });
});

describe('refused', () => {
  const refusals: [string, FactChange][] = [
    ['ENGINE_UNREACHABLE', { engine: { state: 'unreachable', endpoint: 'x', reason: 'down' } }],
    ['OTHER_ENGINE', { engine_matches: 'no', observation: GONE }],
    ['FOREIGN_CONTAINER', { observation: { container: { state: 'foreign', name: BASE } } }],
    ['INSTANCE_UNOBSERVABLE', { observation: { container: { state: 'unreachable', reason: '500' } } }],
    ['INSTANCE_BUSY', { lock: { state: 'held', owner: OWNER } }],
    ['AGENT_STATE_UNKNOWN', { observation: { container: RUNNING } }],
  ];

  test.each(refusals)('%s, by exit and by purge at any consent', (code, change) => {
    const facts = factsOf('docker', change);
    expect(codeOf(() => exit(facts))).toBe(code);
    expect(codeOf(() => purge(facts, 'named'))).toBe(code);
  });

  test('an exit flow with a living agent', () => {
    const facts = factsOf('docker', { observation: { container: RUNNING }, capsule: answers(true) });
    expect(codeOf(() => exit(facts))).toBe('AGENT_ALIVE');
  });

  test.each([
    ['a tree', { isolated: [mount('unknown')] }],
    ['the network', { observation: { network: 'unknown' } }],
    ['the data directory', { data_dir: 'unknown' }],
    ['the engine', { engine_matches: 'unknown', observation: GONE }],
    // Interrupted, and since then somebody has worked there.
    [
      'what was agreed to',
      { manifest: { status: 'purged' }, isolated: [{ ...mount('dirty'), present: 'yes' }] },
    ],
    [
      'what the branch was',
      {
        manifest: { status: 'purged' },
        isolated: [
          { ...mount('unknown'), present: 'no', branch_commit: 'more', record: { base_commit: 'base' } },
        ],
      },
    ],
  ] as [string, FactChange][])('an exit flow that could not look at %s', (_what, change) => {
    expect(codeOf(() => exit(factsOf('docker', change)))).toBe('CLEANUP_NOT_PROVEN');
  });
});

describe('the keep tag', () => {
  const kept = {
    by_id: { state: 'missing' },
    by_keep_tag: { state: 'present', image_id: IMAGE },
    by_tag: { state: 'missing' },
  } as const;
  const tagSteps = (change: FactChange) =>
    planClean({
      ...CALL,
      facts: factsOf('docker', change),
      nonce: 'n',
      graceMs: 1,
      purpose: 'purge',
      consent: 'named',
    })
      .steps.filter(({ op }) => op === 'pin_image' || op === 'remove_keep_tag')
      .map((step) =>
        step.op === 'pin_image'
          ? { op: step.op, image_id: step.image_id, instance_id: step.instance_id }
          : { op: step.op },
      );

  test('goes, and what another instance needs is pinned for that one first', () => {
    const observation = { container: { state: 'missing' }, image: kept } as const;
    expect(tagSteps({ observation })).toEqual([{ op: 'remove_keep_tag' }]);
    expect(tagSteps({ observation, image_heir: 'h0000000' })).toEqual([
      { op: 'pin_image', image_id: IMAGE, instance_id: 'h0000000' },
      { op: 'remove_keep_tag' },
    ]);
  });
});

describe('an interrupted clean-up without manifest', () => {
  const row = (status: string, backend?: 'docker' | 'standalone') =>
    indexRowSchema.parse({
      ...(backend === undefined ? {} : { backend }),
      instance_id: 'k7p9m2xq',
      container_base: BASE,
      workspace_name: null,
      workspace_label: 'proj',
      workdir: '/w',
      role_key: 'r',
      agent_runtime: 'shell',
      status,
      updated_at: CALL.now,
    });

  const STOP = { nonce: 'nonce', graceMs: 1000 } as const;

  test('is finished from its row', () => {
    const plan = planFinishClean({ ...CALL, ...STOP, row: row('purged'), dataDir: 'unknown' });
    expect(plan.steps.map((step) => step.op)).toEqual([
      'remove_data_dir',
      'remove_socket_dir',
      'remove_lock',
      'remove_index_row',
    ]);
    expect(plan.steps[0]?.requires).toEqual([{ fact: 'status', in: ['purged'] }]);
  });

  test('is not assumed when the row says anything else', () => {
    for (const dataDir of ['yes', 'unknown'] as const) {
      const finish = () => planFinishClean({ ...CALL, ...STOP, row: row('crashed'), dataDir });
      expect(codeOf(finish)).toBe('CLEANUP_NOT_PROVEN');
    }
  });

  test('of a directory that is provably gone ends what runs and removes no data', () => {
    const plan = planFinishClean({ ...CALL, ...STOP, row: row('running', 'standalone'), dataDir: 'no' });
    expect(plan.backend).toBe('standalone');
    expect(plan.steps.map((step) => step.op)).toEqual([
      'stop_container',
      'end_leftovers',
      'remove_container',
      'remove_socket_dir',
      'remove_lock',
      'remove_index_row',
    ]);
    expect(plan.steps[0]?.requires).toEqual([{ fact: 'status', in: ['running'] }, { fact: 'name_free' }]);
  });

  test.each([row('running', 'docker'), row('running')])(
    'of a directory that is gone looks for everything an engine may still hold',
    (one) => {
      const plan = planFinishClean({ ...CALL, ...STOP, row: one, dataDir: 'no' });
      expect(plan.backend).toBe('docker');
      expect(plan.steps.map((step) => step.op)).toEqual([
        'stop_container',
        'remove_container',
        'remove_sidecar',
        'remove_volume',
        'remove_network',
        'remove_keep_tag',
        'remove_socket_dir',
        'remove_lock',
        'remove_index_row',
      ]);
    },
  );
});
