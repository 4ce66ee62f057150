import { join } from 'node:path';
import { credentialStoreOf, type MountSpec } from '@jackin/config';
import {
  inspectSource,
  type MaterialisePlan,
  planMaterialise,
  type SourceFacts,
  treePathOf,
} from '@jackin/isolation';
import type { World } from './world.ts';

/** What the sources of isolated mounts are, by destination; looked at once per command, before anything is made. */
export type Sources = ReadonlyMap<string, SourceFacts>;

export async function inspectSources(world: World, mounts: readonly MountSpec[]): Promise<Sources> {
  const isolated = mounts.filter(({ isolation }) => isolation !== 'shared');
  const options = { env: world.env, ...(world.git === undefined ? {} : { git: world.git }) };
  const found: [string, SourceFacts][] = [];
  for (const { src, dst } of isolated) found.push([dst, await inspectSource(src, options)]);
  return new Map(found);
}

export interface TreePlans {
  trees: MaterialisePlan[];
  /** What the operator must hear: what is left out, what is not initialised. */
  notices: string[];
}

/**
 * How each worktree and clone of a new instance is made (docs/isolation.md#worktree).
 * @throws JackinError what a source is refused for: SOURCE_BUSY, SOURCE_DIRTY and others (docs/errors.md#worktrees-and-clones)
 */
export function planTrees(
  world: World,
  input: {
    base: string;
    mounts: readonly MountSpec[];
    sources: Sources;
    force: boolean;
    /** The agent works in a container. */
    contained: boolean;
    workspace: string;
    role: string;
  },
): TreePlans {
  const { base, mounts, sources, force, contained, workspace, role } = input;
  const plans: MaterialisePlan[] = [];
  for (const mount of mounts) {
    const facts = sources.get(mount.dst);
    if (mount.isolation === 'shared' || facts === undefined) continue;
    const decision = planMaterialise({
      mount: { ...mount, isolation: mount.isolation },
      facts,
      workspace,
      selectorKey: role,
      credentials: credentialStoreOf(mount.src),
      // A name nobody has yet.
      treeExists: 'no',
      plannedScratch: plans
        .filter(({ common_dir }) => common_dir === facts.common_dir)
        .flatMap(({ scratch }) => (scratch === null ? [] : [scratch.name])),
      container: base,
      treePath: treePathOf(world.paths.instance(base).dir, mount.isolation, mount.dst, base),
      contained,
      interactive: world.prompts.available,
      force,
      skipLfs: skipsLfs(world.env),
    });
    if (decision.outcome === 'refused') throw decision.error;
    plans.push(decision.plan);
  }
  return { trees: plans, notices: plans.flatMap(({ notices }) => notices) };
}

/**
 * Where an agent of this machine works: what it would find below an isolated mount's source is in its tree instead.
 * @param workdir a directory of the host
 */
export function workdirInTrees(
  workdir: string,
  mounts: readonly MountSpec[],
  trees: readonly Pick<MaterialisePlan, 'dst' | 'tree'>[],
): string {
  const at = mounts
    .filter(({ src }) => workdir === src || workdir.startsWith(`${src}/`))
    .sort((a, b) => b.src.length - a.src.length)[0];
  const made = trees.find(({ dst }) => dst === at?.dst);
  return at === undefined || made === undefined ? workdir : join(made.tree, workdir.slice(at.src.length));
}

/** The knob Git LFS itself has. */
function skipsLfs(env: NodeJS.ProcessEnv): boolean {
  return /^(1|t|true|yes|on)$/i.test(env.GIT_LFS_SKIP_SMUDGE ?? '');
}
