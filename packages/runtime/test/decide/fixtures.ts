import type { ExitRecord, Heartbeat } from '@jackin/capsule/protocol';
import { type CauseKind, type ExitCause, type Manifest, manifestSchema } from '@jackin/instance';
import type { ContainerFact, InstanceFacts, InstanceObservation, Plan } from '../../src/index.ts';
import {
  BASE,
  container,
  ENDED,
  heartbeatOf,
  IMAGE,
  LAST_BEAT,
  RUNNING,
  recordOf,
  STARTED,
} from './parts.ts';

export * from './parts.ts';

export type Backend = 'docker' | 'standalone';

export function manifestOf(backend: Backend, change: Partial<Manifest> = {}): Manifest {
  const standalone = backend === 'standalone';
  return manifestSchema.parse({
    version: 2,
    instance_id: 'k7p9m2xq',
    container_base: BASE,
    created_at: STARTED,
    updated_at: STARTED,
    workspace_name: 'proj',
    workspace_label: 'proj',
    workdir: '/workspace/proj',
    host_workdir_fingerprint: 'sha256:abc',
    role_key: 'the-architect',
    role_display_name: 'The Architect',
    agent_runtime: 'claude',
    image_tag: standalone ? 'standalone' : 'jk_the-architect:0a1b2c3',
    status: 'running',
    docker: {
      role_container: BASE,
      dind_container: `${BASE}-dind`,
      network: `${BASE}-net`,
      certs_volume: `${BASE}-dind-certs`,
    },
    ...(standalone ? { backend: { standalone: { pid: 4242, start_time: '777', boot_id: 'boot-a' } } } : {}),
    engine: { endpoint: standalone ? 'standalone' : 'unix:///a.sock', id: 'engine-a', run: 'run-a' },
    last_seen: { at: LAST_BEAT, boot_id: 'boot-a' },
    ...(standalone ? {} : { image_id: IMAGE }),
    recipe: {
      version: 1,
      backend,
      image_tag: standalone ? 'standalone' : 'jk_the-architect:0a1b2c3',
      image_id: standalone ? null : IMAGE,
      role: { source: 'https://example.test/role.git', commit: '0a1b2c3' },
      mounts: [{ src: '/srv/proj', dst: '/workspace/proj', isolation: 'shared', readonly: false }],
      env: [{ name: 'TOKEN', source: '$TOKEN' }],
      run: { sidecar: standalone ? null : { shape: 'dind', image_id: IMAGE } },
      agent: { id: 'claude', argv: ['claude'] },
      workdir: '/workspace/proj',
    },
    ...change,
  });
}

function dockerObservation(change: Partial<InstanceObservation> = {}): InstanceObservation {
  return {
    container: container(),
    sidecar: { ...(RUNNING as Extract<ContainerFact, { state: 'running' }>), name: `${BASE}-dind` },
    image: {
      by_id: { state: 'present', image_id: IMAGE },
      by_keep_tag: { state: 'missing' },
      by_tag: { state: 'present', image_id: IMAGE },
    },
    network: 'present',
    volume: 'present',
    leftover_pids: [],
    ...change,
  };
}

function standaloneObservation(change: Partial<InstanceObservation> = {}): InstanceObservation {
  return {
    container: container({ image_id: null, exit_code: null }),
    sidecar: null,
    image: null,
    network: null,
    volume: null,
    leftover_pids: [],
    ...change,
  };
}

export interface FactChange extends Partial<Omit<InstanceFacts, 'manifest' | 'observation' | 'state_files'>> {
  manifest?: Partial<Manifest>;
  observation?: Partial<InstanceObservation>;
  record?: Partial<ExitRecord> | 'unreadable';
  heartbeat?: Partial<Heartbeat> | 'absent' | 'unreadable';
}

/** A session that ran, whose container is stopped, with nothing else said: change what the case is about. */
export function factsOf(backend: Backend, change: FactChange = {}): InstanceFacts {
  const { manifest, observation, record, heartbeat, ...rest } = change;
  const made = manifestOf(backend, manifest);
  return {
    instance_id: made.instance_id,
    container_base: made.container_base,
    manifest: made,
    lock: { state: 'free' },
    engine: {
      state: 'reachable',
      endpoint: made.engine?.endpoint ?? 'unix:///a.sock',
      id: 'engine-a',
      run: 'run-a',
      boot_id: 'boot-a',
    },
    engine_matches: 'yes',
    engine_run: 'same',
    boot: 'same',
    observation: backend === 'docker' ? dockerObservation(observation) : standaloneObservation(observation),
    capsule: { state: 'silent', reason: 'the container is stopped' },
    state_files: {
      exit_record:
        record === undefined
          ? { state: 'absent' }
          : record === 'unreadable'
            ? { state: 'unreadable', reason: 'not JSON' }
            : { state: 'present', record: recordOf(record) },
      heartbeat:
        heartbeat === 'absent'
          ? { state: 'absent' }
          : heartbeat === 'unreadable'
            ? { state: 'unreadable', reason: 'too large' }
            : { state: 'present', heartbeat: heartbeatOf(heartbeat) },
    },
    data_dir: 'yes',
    socket_dir: 'yes',
    isolated: [],
    image_heir: null,
    clean_exit_codes: [0, 130],
    ...rest,
  };
}

export function causeOf(kind: CauseKind, change: Partial<ExitCause> = {}): ExitCause {
  return { kind, at: ENDED, evidence: [], ...change };
}

/** The facts after a plan's one record was written. */
export function applied(facts: InstanceFacts, plan: Plan | null | undefined): InstanceFacts {
  const [step] = plan?.steps ?? [];
  if (step?.op !== 'record_status') throw new Error('the plan records nothing');
  const manifest = { ...facts.manifest, status: step.status };
  if (step.exit_cause === null) delete manifest.exit_cause;
  else if (step.exit_cause !== undefined) manifest.exit_cause = step.exit_cause;
  if (step.keep === null) delete manifest.keep;
  if (step.stop_request === null) delete manifest.stop_request;
  if (step.last_attach_outcome !== undefined) manifest.last_attach_outcome = step.last_attach_outcome;
  return { ...facts, manifest, ...(step.seen_in === undefined ? {} : { engine_run: 'same' }) };
}
