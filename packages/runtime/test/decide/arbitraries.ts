import { CAUSE_KINDS, type ExitCause, type Manifest, STATUSES } from '@jackin/instance';
import fc from 'fast-check';
import type {
  ContainerFact,
  ImageFact,
  InstanceFacts,
  InstanceObservation,
  IsolatedMountFact,
} from '../../src/index.ts';
import {
  answers,
  BASE,
  container,
  ENDED,
  factsOf,
  heartbeatOf,
  IMAGE,
  LAST_BEAT,
  OTHER_IMAGE,
  OWNER,
  RUNNING,
  recordOf,
  STARTED,
} from './fixtures.ts';

const moment = fc.constantFrom(STARTED, LAST_BEAT, ENDED, '2026-03-01T12:30:00.000Z', 'no time at all');
const tri = fc.constantFrom('yes' as const, 'no' as const, 'unknown' as const);
const sameness = fc.constantFrom('same' as const, 'changed' as const, 'unknown' as const);

const stopped: fc.Arbitrary<ContainerFact> = fc
  .record({
    exit_code: fc.constantFrom(null, 0, 1, 130, 137, 143, 255),
    oom_flag: fc.constantFrom(null, true, false),
    startable: fc.constantFrom({ ok: true as const }, { ok: false as const, reason: 'network gone' }),
  })
  .map(container);

const containerFact: fc.Arbitrary<ContainerFact> = fc.oneof(
  { weight: 3, arbitrary: stopped },
  { weight: 3, arbitrary: fc.constant(RUNNING) },
  { weight: 2, arbitrary: fc.constant<ContainerFact>({ state: 'missing' }) },
  fc.constant<ContainerFact>({ state: 'foreign', name: BASE }),
  fc.constant<ContainerFact>({ state: 'unreachable', reason: '500' }),
);

const image: fc.Arbitrary<ImageFact> = fc.constantFrom<ImageFact>(
  { state: 'present', image_id: IMAGE },
  { state: 'present', image_id: OTHER_IMAGE },
  { state: 'missing' },
  { state: 'unknown', reason: 'timeout' },
);

const resource = fc.constantFrom(
  'present' as const,
  'missing' as const,
  'foreign' as const,
  'unknown' as const,
);

const dockerParts: fc.Arbitrary<Partial<InstanceObservation>> = fc.record({
  container: containerFact,
  sidecar: fc.oneof(fc.constant(null), containerFact),
  image: fc.oneof(fc.constant(null), fc.record({ by_id: image, by_keep_tag: image, by_tag: image })),
  network: resource,
  volume: resource,
});

const standaloneParts: fc.Arbitrary<Partial<InstanceObservation>> = fc.record({
  container: containerFact,
  leftover_pids: fc.constantFrom([], [9], [9, 10]),
});

const isolated: fc.Arbitrary<IsolatedMountFact[]> = fc
  .array(fc.constantFrom('clean', 'dirty', 'unpushed', 'unknown'), { maxLength: 3 })
  .map((verdicts) =>
    verdicts.map((verdict, index) => ({
      mount_dst: `/w${index}`,
      kind: 'worktree' as const,
      path: `/data/w${index}`,
      verdict: verdict as IsolatedMountFact['verdict'],
      reason: 'as found',
    })),
  );

export const exitCause: fc.Arbitrary<ExitCause> = fc.record({
  kind: fc.constantFrom(...CAUSE_KINDS),
  exit_code: fc.constantFrom(null, 0, 3, 137),
  at: moment,
  evidence: fc.constantFrom([], ['recorded earlier']),
});

const manifestChange: fc.Arbitrary<Partial<Manifest>> = fc.record(
  {
    status: fc.oneof(fc.constantFrom('running' as const, 'active' as const), fc.constantFrom(...STATUSES)),
    exit_cause: exitCause,
    keep: fc.record({ intent: fc.constantFrom('operator', 'policy', 'could_not_ask'), at: moment }),
    stop_request: fc.record({ nonce: fc.constantFrom('ours-1234', 'late-5678'), at: moment }),
  },
  { requiredKeys: ['status'] },
);

const record = fc.record({
  at: moment,
  ended_by: fc.constantFrom('agent' as const, 'request' as const, 'signal' as const),
  nonce: fc.constantFrom('ours-1234', 'theirs-000'),
  code: fc.constantFrom(null, 0, 3, 137),
  signal: fc.constantFrom(null, 'SIGTERM', 'SIGKILL'),
  oom: fc.boolean(),
  instance_id: fc.constantFrom('k7p9m2xq', 'k7p9m2xq', 'zzzzzzzz'),
});

const stateFiles: fc.Arbitrary<InstanceFacts['state_files']> = fc.record({
  exit_record: fc.oneof(
    fc.constant({ state: 'absent' as const }),
    fc.constant({ state: 'unreadable' as const, reason: 'not JSON' }),
    record.map((change) => ({ state: 'present' as const, record: recordOf(change) })),
  ),
  heartbeat: fc.oneof(
    fc.constant({ state: 'absent' as const }),
    fc.constant({ state: 'unreadable' as const, reason: 'too large' }),
    fc.record({ at: moment, sessions: fc.constantFrom([], heartbeatOf().sessions) }).map((change) => ({
      state: 'present' as const,
      heartbeat: heartbeatOf(change),
    })),
  ),
});

const common = fc.record({
  manifest: manifestChange,
  lock: fc.oneof(
    { weight: 4, arbitrary: fc.constant<InstanceFacts['lock']>({ state: 'free' }) },
    fc.constant<InstanceFacts['lock']>({ state: 'held', owner: OWNER }),
    fc.constant<InstanceFacts['lock']>({ state: 'unknown', reason: 'other host' }),
  ),
  engine: fc.oneof(
    { weight: 4, arbitrary: fc.constant(factsOf('docker').engine) },
    fc.constant<InstanceFacts['engine']>({
      state: 'unreachable',
      endpoint: 'unix:///a.sock',
      reason: 'down',
    }),
  ),
  engine_run: sameness,
  boot: sameness,
  capsule: fc.oneof(
    fc.array(fc.boolean(), { maxLength: 3 }).map((alive) => answers(...alive)),
    fc.constant<InstanceFacts['capsule']>({ state: 'silent', reason: 'no answer' }),
    fc.constant<InstanceFacts['capsule']>({ state: 'unknown', reason: 'not asked' }),
  ),
  data_dir: tri,
  socket_dir: tri,
  isolated,
  clean_exit_codes: fc.constantFrom<number[] | 'any'>([0, 130], 'any'),
});

/** Any facts a backend could report, contradictions included. */
export const anyFacts: fc.Arbitrary<InstanceFacts> = fc
  .tuple(
    common,
    stateFiles,
    fc.oneof(
      fc.record({ backend: fc.constant('docker' as const), observation: dockerParts, engine_matches: tri }),
      fc.record({
        backend: fc.constant('standalone' as const),
        observation: standaloneParts,
        engine_matches: fc.constantFrom('yes' as const, 'unknown' as const),
      }),
    ),
  )
  .map(([rest, state_files, { backend, observation, engine_matches }]) => ({
    ...factsOf(backend, { ...rest, observation, engine_matches }),
    state_files,
  }));
