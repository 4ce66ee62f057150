import type { ExitRecord, Heartbeat } from '@jackin/capsule/protocol';
import type { ContainerFact, InstanceFacts, SessionRequest } from '../../src/index.ts';

export const NOW = '2026-03-01T12:00:00.000Z';
/** Moments of the session before `NOW`. */
export const STARTED = '2026-03-01T09:00:00.000Z';
export const LAST_BEAT = '2026-03-01T11:59:50.000Z';
export const ENDED = '2026-03-01T11:59:55.000Z';
export const IMAGE = `sha256:${'1'.repeat(64)}`;
export const OTHER_IMAGE = `sha256:${'2'.repeat(64)}`;
export const BASE = 'jk-k7p9m2xq-proj-thearchitect';

export function container(change: Partial<Extract<ContainerFact, { state: 'stopped' }>> = {}): ContainerFact {
  return {
    state: 'stopped',
    name: BASE,
    engine_ref: 'c0ffee',
    image_id: IMAGE,
    exit_code: null,
    oom_flag: null,
    error: null,
    startable: { ok: true },
    ...change,
  };
}

export const RUNNING: ContainerFact = {
  state: 'running',
  name: BASE,
  engine_ref: 'c0ffee',
  image_id: IMAGE,
  oom_flag: null,
  started_run: 'run-a',
};

export function recordOf(change: Partial<ExitRecord> = {}): ExitRecord {
  return {
    version: 1,
    instance_id: 'k7p9m2xq',
    boot_id: 'boot-a',
    at: ENDED,
    ended_by: 'agent',
    code: null,
    signal: null,
    oom: false,
    oom_note: false,
    agent: 'claude',
    session_id: 's1',
    ...change,
  };
}

export function heartbeatOf(change: Partial<Heartbeat> = {}): Heartbeat {
  const alive = [{ session_id: 's1', agent: 'claude', alive: true, pid: 77 }];
  return {
    version: 1,
    instance_id: 'k7p9m2xq',
    boot_id: 'boot-a',
    at: LAST_BEAT,
    pid: 7,
    sessions: alive,
    ...change,
  };
}

export const answers = (...alive: boolean[]): InstanceFacts['capsule'] => ({
  state: 'answers',
  sessions: alive.map((one, index) => ({ session_id: `s${index + 1}`, agent: 'claude', alive: one })),
  clients: 0,
});

export const OWNER = {
  pid: 99,
  start_time: '1',
  boot_id: 'boot-a',
  host: 'here',
  since: STARTED,
  purpose: 'load',
};

export const SESSION: SessionRequest = {
  session_id: 's2',
  name: 'claude',
  agent: 'claude',
  argv: ['claude', '--continue'],
  cwd: '/workspace/proj',
  cols: 80,
  rows: 24,
};

export const CALL = { planId: 'p1', now: NOW, nonce: 'nonce-12345678', graceMs: 10_000 };
