import { newInstanceId, newSessionId } from '@jackin/core';
import type { Manifest, Recipe } from '@jackin/instance';
import type { Plan, SessionRequest, Step } from '../../../src/plan.ts';

/** A shell that waits for ever, without output of its own. */
const WAITING_SHELL = ['/bin/sh', '-c', 'while :; do sleep 1000; done'];

export interface Subject {
  instanceId: string;
  base: string;
  manifest: Manifest;
  recipe: Recipe;
  session: SessionRequest;
}

/** An instance of the shell agent on `workdir` that has not been created yet. */
export function newSubject(workdir: string, options: { argv?: string[]; env?: Recipe['env'] } = {}): Subject {
  const instanceId = newInstanceId();
  const base = `jk-${instanceId}-shell`;
  const argv = options.argv ?? WAITING_SHELL;
  const now = new Date().toISOString();
  const recipe: Recipe = {
    version: 1,
    backend: 'standalone',
    image_tag: 'standalone',
    role: { source: 'builtin:shell' },
    mounts: [{ src: workdir, dst: workdir, isolation: 'shared', readonly: false }],
    env: options.env ?? [],
    auth_modes: {},
    run: { limits: {} },
    agent: { id: 'shell', argv },
    workdir,
  };
  const manifest: Manifest = {
    version: 2,
    instance_id: instanceId,
    container_base: base,
    created_at: now,
    updated_at: now,
    workspace_name: null,
    workspace_label: 'project',
    workdir,
    host_workdir_fingerprint: 'sha256:0',
    role_key: 'shell',
    role_display_name: 'shell',
    agent_runtime: 'shell',
    image_tag: 'standalone',
    status: 'active',
    docker: { role_container: base, network: `${base}-net` },
    sessions: [],
    supported_agents: ['shell'],
    recipe,
  };
  const session: SessionRequest = {
    session_id: newSessionId(),
    name: 'shell',
    agent: 'shell',
    argv,
    cwd: workdir,
    cols: 80,
    rows: 24,
  };
  return { instanceId, base, manifest, recipe, session };
}

type Draft = {
  [Op in Step['op']]: Omit<Extract<Step, { op: Op }>, 'id' | 'creates' | 'removes' | 'requires'>;
}[Step['op']] &
  Partial<Pick<Step, 'creates' | 'removes' | 'requires'>>;

/** A plan of these steps about one instance. */
export function planOf(subject: Subject, kind: Plan['kind'], steps: Draft[]): Plan {
  return {
    schema_version: 'v1',
    plan_id: `${kind}-${subject.instanceId}`,
    kind,
    backend: 'standalone',
    instance_id: subject.instanceId,
    container_base: subject.base,
    summary: kind,
    tier: null,
    returns: [],
    did_not_return: [],
    steps: steps.map(
      (step, at) => ({ id: `${at + 1}-${step.op}`, creates: [], removes: [], requires: [], ...step }) as Step,
    ),
  };
}

/** CLEAN in the order that leaves an honest record at every point. */
export function cleanSteps(): Draft[] {
  return [
    { op: 'record_status', status: 'purged' },
    { op: 'end_leftovers' },
    { op: 'remove_container', removes: ['the capsule process'] },
    { op: 'remove_data_dir', removes: ['the data directory'] },
    { op: 'remove_socket_dir', removes: ['the socket directory'] },
    { op: 'remove_lock', removes: ['the lock'] },
    { op: 'remove_index_row', removes: ['the index row'] },
  ];
}
