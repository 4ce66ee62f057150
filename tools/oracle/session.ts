import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootId, resolvePaths, systemClock } from '@jackin/core';
import { baseName, createInstanceStore, derivedNames, type Recipe } from '@jackin/instance';
import { inspectSource, planMaterialise, treePathOf } from '@jackin/isolation';
import {
  createCapsuleAccess,
  createJackin,
  createObserveOne,
  createStandaloneBackend,
  createTrees,
  execute,
  type JackinDeps,
  type Plan,
  type Prompts,
  planLaunch,
} from '@jackin/runtime';
import type { Ground } from './ground.ts';
import type { Exit } from './history.ts';
import type { SessionTree } from './world.ts';

/** No process has it: the session's has ended. */
const NO_PID = 4_194_303;
const events = () => {};

/** A session whose agent has ended by itself: its tree is made and its end decided by jackin, in this process. */
export interface Sessions {
  open(ground: Ground): Promise<SessionTree>;
  /** `stop` with the policy `ask` and nobody to ask. */
  exit: Exit;
}

export function jackinSessions(): Sessions {
  // Each of them may end more than once: in every history that begins with it.
  const sessions = new Map<string, { id: string; root: string }>();
  return {
    async open(ground) {
      const { tree, id } = await openSession(ground);
      sessions.set(tree.path, { id, root: ground.root });
      return tree;
    },
    async exit({ path }) {
      const session = sessions.get(path);
      if (session === undefined) throw new Error(`no session has the tree ${path}`);
      const ended = await createJackin(dependencies(session.root)).stop({
        instance: session.id,
        policy: null,
        dryRun: false,
      });
      if (ended.kind !== 'end') throw new Error(`stop answered with a ${ended.kind}`);
      const { outcome, isolated, evidence } = ended.document;
      if (outcome === 'cleaned') return '';
      return isolated.map(({ verdict, reason }) => `${verdict}: ${reason}`).join('; ') || evidence.join('; ');
    },
  };
}

async function openSession({ root, host, kind, number }: Ground): Promise<{ tree: SessionTree; id: string }> {
  const deps = dependencies(root);
  const { paths, env } = deps;
  const id = `${number}`.padStart(8, '0');
  const base = baseName({ instanceId: id, workspace: null, role: 'shell' });
  const decision = planMaterialise({
    mount: { src: host, dst: '/workspace/app', isolation: kind, readonly: false },
    facts: await inspectSource(host, { env }),
    container: base,
    treePath: treePathOf(paths.instance(base).dir, kind, '/workspace/app', base),
    treeExists: 'no',
    contained: false,
    workspace: 'app',
    selectorKey: 'shell',
    interactive: false,
    force: false,
    skipLfs: false,
  });
  if (decision.outcome !== 'make') throw new Error(`a tree was not to be made: ${decision.outcome}`);
  const store = createInstanceStore({ paths, events, clock: systemClock });
  const trees = createTrees({ env });
  const capsule = createCapsuleAccess({ paths, clientName: 'oracle' });
  const backends = new Map(deps.backends.map((backend) => [backend.kind, backend]));
  await execute(onlyTrees(launchOf(id, base, host, kind, decision.plan)), {
    store,
    paths,
    backends,
    events,
    clock: systemClock,
    observeOne: createObserveOne({ store, paths, backends, capsule, trees }),
    trees,
    lock: null,
    resolveEnv: async () => ({}),
    capsule,
    hostEnv: env,
  });
  await endOfAgent(deps, id, base);
  const isolation = await store.readIsolation(base);
  if (isolation.state !== 'ok' || isolation.records[0] === undefined) throw new Error('nothing was recorded');
  const [record] = isolation.records;
  return {
    id,
    tree: {
      path: record.worktree_path,
      kind,
      host,
      commonDir: record.git_common_dir ?? join(record.worktree_path, '.git'),
      base: record.base_commit,
      refsAtLaunch: record.refs_at_launch ?? {},
      scratchBranch: kind === 'worktree' ? record.scratch_branch : null,
    },
  };
}

/** Those of a jackin whose every file is below `root`. */
function dependencies(root: string): JackinDeps {
  const env = {
    PATH: process.env.PATH,
    HOME: root,
    GIT_CONFIG_NOSYSTEM: '1',
    JACKIN_HOME_DIR: join(root, 'state'),
    JACKIN_CONFIG_DIR: join(root, 'config'),
  };
  const paths = resolvePaths(env);
  mkdirSync(paths.configDir, { recursive: true });
  const capsuleProgram = { file: process.execPath, args: ['-e', ''] };
  return {
    paths,
    env,
    cwd: root,
    events,
    clock: systemClock,
    prompts: NOBODY,
    attach: { run: () => Promise.reject(new Error('nothing was to be attached to')) },
    terminal: null,
    backends: [createStandaloneBackend({ paths, capsuleProgram, clock: systemClock, events, env })],
    clientName: 'oracle',
  };
}

const unasked = () => Promise.reject(new Error('nobody was to be asked'));
const NOBODY: Prompts = {
  available: false,
  acknowledgeUnfinished: unasked,
  chooseEnd: unasked,
  chooseSession: unasked,
  confirm: unasked,
  chooseInstance: unasked,
  verifyPreserved: unasked,
};

function launchOf(
  instanceId: string,
  base: string,
  host: string,
  isolation: 'worktree' | 'clone',
  tree: NonNullable<Parameters<typeof planLaunch>[0]['trees']>[number],
): Plan {
  const argv = ['true'];
  const recipe: Recipe = {
    version: 1,
    backend: 'standalone',
    image_tag: 'standalone',
    role: { source: 'shell' },
    mounts: [{ src: host, dst: '/workspace/app', isolation, readonly: false }],
    env: [],
    auth_modes: {},
    run: { limits: {} },
    agent: { id: 'shell', argv },
    workdir: host,
  };
  return planLaunch({
    planId: randomUUID(),
    now: systemClock.now().toISOString(),
    instanceId,
    containerBase: base,
    names: derivedNames(base),
    workspaceName: null,
    workspaceLabel: host,
    workdir: host,
    hostWorkdirFingerprint: 'sha256:0',
    role: { key: 'shell', displayName: 'shell' },
    supportedAgents: ['shell'],
    recipe,
    session: { session_id: 's1', name: 'shell', agent: 'shell', argv, cwd: host, cols: 80, rows: 24 },
    trees: [tree],
  });
}

/** Its agent needs no process here: what it does is the history. */
function onlyTrees(plan: Plan): Plan {
  const wanted = new Set(['create_instance', 'materialise_trees']);
  return { ...plan, steps: plan.steps.filter(({ op }) => wanted.has(op)) };
}

/** As the capsule of a session leaves it whose agent ended with 0. */
async function endOfAgent(deps: JackinDeps, id: string, base: string): Promise<void> {
  const { paths } = deps;
  const boot = await bootId();
  const at = systemClock.now().toISOString();
  const place = paths.instance(base);
  mkdirSync(place.state, { recursive: true, mode: 0o700 });
  mkdirSync(place.sockets, { recursive: true, mode: 0o700 });
  const agent = { code: 0, signal: null, oom: false, oom_note: false, agent: 'shell', session_id: 's1' };
  const record = { version: 1, instance_id: id, boot_id: boot, at, ended_by: 'agent', ...agent };
  writeFileSync(join(place.state, 'exit.json'), JSON.stringify(record));
  const store = createInstanceStore({ paths, events, clock: systemClock });
  await store.update(base, (manifest) => ({
    ...manifest,
    status: 'running',
    backend: { standalone: { pid: NO_PID, start_time: '1', boot_id: boot } },
    engine: { endpoint: 'standalone', id: null, run: boot },
    last_seen: { at, boot_id: boot },
  }));
}
