import { type AgentDefinition, agentRegistry } from '@jackin/agents';
import { type EnvReference, type LoadedConfig, loadConfig, resolveEnv } from '@jackin/config';
import {
  type Clock,
  type EventSink,
  ensurePrivateDir,
  type JackinPaths,
  type Lock,
  runProcess,
} from '@jackin/core';
import { createInstanceStore, type InstanceStore, type Manifest } from '@jackin/instance';
import type { GitRunner } from '@jackin/isolation';
import type { Backend } from '../backend.ts';
import { execute } from '../execute/executor.ts';
import type { ExecutionReceipt, ExecutorPorts } from '../execute/ports.ts';
import type { InstanceFacts, IsolatedMountFact } from '../facts.ts';
import type { Attach } from '../jackin.ts';
import { type CapsuleAccess, createCapsuleAccess } from '../observe/capsule-access.ts';
import { isolatedFacts, type TreeLook } from '../observe/isolated-facts.ts';
import {
  createObserveOne,
  type Observation,
  type ObserveDeps,
  observe,
  type Selection,
} from '../observe/observe.ts';
import type { Plan } from '../plan.ts';
import type { Prompts } from '../prompts.ts';
import { createTrees, type Trees } from '../trees.ts';
import { knownAgents } from './known-agents.ts';
import { withStages } from './stages.ts';

/** How long an agent may take to end in good order before it is ended by force. */
export const GRACE_MS = 10_000;

/** What the verbs need from outside. The command line, a test or another program supplies it. */
export interface JackinDeps {
  paths: JackinPaths;
  /** The host's environment: `$NAME` references and the agent's PATH come from it. */
  env: NodeJS.ProcessEnv;
  cwd: string;
  events: EventSink;
  clock: Clock;
  prompts: Prompts;
  attach: Attach;
  /** The terminal that could be attached; null when there is none. */
  terminal: { size(): { cols: number; rows: number } } | null;
  backends: readonly Backend[];
  /** Where the roles that come with jackin are; default: in this package. */
  shippedRoles?: string;
  /** How the capsules list us. */
  clientName: string;
  /** Upper limits in milliseconds: of backend calls that only look, of looking at a capsule, of calls that act. */
  bounds?: { backendMs?: number; capsuleMs?: number; callMs?: number };
  /** Runs git for worktrees and clones; default: git itself, hardened. */
  git?: GitRunner;
}

/** The dependencies, and what every flow does with them. */
export interface World extends JackinDeps {
  store: InstanceStore;
  backendOf: ReadonlyMap<Backend['kind'], Backend>;
  capsule: CapsuleAccess;
  trees: Trees;
  /** Read once per command. */
  config(): Promise<LoadedConfig>;
  /** References to values. One command resolves each list once, however many plans need it. */
  resolveEnv(references: EnvReference[]): Promise<Record<string, string>>;
  look(selection?: Selection): Promise<Observation>;
  lookAt(base: string, standIn?: Manifest, trees?: TreeLook): Promise<InstanceFacts | null>;
  /** The trees of an instance in full, as for a resume. */
  lookInto(manifest: Manifest): Promise<IsolatedMountFact[]>;
  /**
   * Executes a plan under the lock the caller holds for it.
   * @param seen a look that still holds under that lock; without it every precondition is looked at again
   */
  run(plan: Plan, lock: Lock | null, events?: EventSink, seen?: InstanceFacts): Promise<ExecutionReceipt>;
  /** RFC 3339 */
  now(): string;
}

/** Builds what the flows share; touches nothing yet. */
export function createWorld(deps: JackinDeps): World {
  const { paths, events, clock } = deps;
  const store = createInstanceStore({ paths, events, clock });
  const backendOf = new Map(deps.backends.map((backend) => [backend.kind, backend]));
  const capsule = createCapsuleAccess({ paths, clientName: deps.clientName });
  const { bounds = {} } = deps;
  const trees = createTrees({ env: deps.env, git: deps.git });
  const observeDeps: ObserveDeps = { store, paths, backends: backendOf, capsule, trees, bounds };
  const resolveOnce = onceEach(deps);
  let loaded: Promise<LoadedConfig> | undefined;
  const config = (): Promise<LoadedConfig> => {
    loaded ??= loadConfig(paths);
    return loaded;
  };
  // A broken configuration must not keep anybody from looking; the verbs that need it say so.
  const agents = (): Promise<readonly AgentDefinition[]> =>
    knownAgents({ config }).catch(() => agentRegistry);
  const warned = new Set<string>();
  const warn = (mounts: readonly IsolatedMountFact[]): void => {
    for (const { mount_dst, planted = [], record } of mounts) {
      const message = `${record?.git_common_dir}/config has settings that may run programs and were not there when the worktree ${mount_dst} was made (${planted.join(', ')}): look at it before you use git there`;
      if (planted.length === 0 || warned.has(message)) continue;
      warned.add(message);
      events({ type: 'notice', level: 'warn', code: 'REPOSITORY_SETTINGS_CHANGED', message });
    }
  };
  const lookAt: World['lookAt'] = async (base, standIn, look) => {
    const facts = await createObserveOne({ ...observeDeps, agents: await agents() })(base, standIn, look);
    warn(facts?.isolated ?? []);
    return facts;
  };
  return {
    ...deps,
    store,
    backendOf,
    capsule,
    trees,
    config,
    resolveEnv: resolveOnce,
    look: async (selection) => observe({ ...observeDeps, agents: await agents() }, selection),
    lookAt,
    lookInto: async (manifest) => {
      const isolated = await isolatedFacts(observeDeps, manifest, 'resume');
      warn(isolated);
      return isolated;
    },
    now: () => clock.now().toISOString(),
    run: async (plan, lock, sink = events, seen) => {
      await ensurePrivateDir(paths.dataDir);
      const ports: ExecutorPorts = {
        store,
        paths,
        backends: backendOf,
        events: withStages(plan, sink, clock),
        clock,
        observeOne: seen === undefined ? lookAt : async () => seen,
        trees,
        lock,
        resolveEnv: resolveOnce,
        capsule,
        hostEnv: deps.env,
        agents: await agents(),
        ...(bounds.callMs === undefined ? {} : { callMs: bounds.callMs }),
      };
      return execute(plan, ports);
    },
  };
}

function onceEach({ env }: JackinDeps): World['resolveEnv'] {
  const resolved = new Map<string, Promise<Record<string, string>>>();
  return (references) => {
    const key = JSON.stringify(references);
    const known = resolved.get(key) ?? resolveEnv(references, { hostEnv: env, run: runProcess });
    resolved.set(key, known);
    return known;
  };
}
