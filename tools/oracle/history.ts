import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { differences, inventory } from './files.ts';
import { work } from './generate.ts';
import type { OpenTree } from './ground.ts';
import { lookBefore, lossesOf } from './oracle.ts';
import { plainGit } from './plain-git.ts';
import { randomFrom } from './random.ts';
import { gitDirOf } from './refs.ts';
import { begin, GROUNDS, type Workshop } from './workshop.ts';
import type { SessionTree, TreeKind, World } from './world.ts';

/** Decides about a tree, and removes it or leaves it alone. Says why, for those that are kept. */
export type Exit = (tree: SessionTree) => Promise<string>;

export interface HistoryOptions {
  kind: TreeKind;
  exit: Exit;
  /** How the tree is made, the same way for every history of a workshop; default: with git itself. */
  open?: OpenTree;
  /** Leave everything where it is, for somebody who looks for a fault. */
  keepFiles?: boolean;
}

export interface HistoryResult {
  seed: number;
  kind: TreeKind;
  steps: string[];
  kept: boolean;
  /** Everything was elsewhere, or had landed: the tree could have gone. */
  safe: boolean;
  /** Why it was kept, as the exit says. */
  why: string;
  /** What is gone, or was changed without being asked for: must be empty. */
  losses: string[];
  /** What would have been lost; empty when safe. */
  atRisk: string[];
  /** Where it happened; gone again, unless the files were to be kept. */
  root: string;
}

/** Makes the history of a seed, lets the exit decide, and looks what became of everything. */
export async function runHistory(
  seed: number,
  options: HistoryOptions,
  workshop: Workshop,
): Promise<HistoryResult> {
  const random = randomFrom(seed);
  const number = random.below(GROUNDS);
  const { kind, open = null, keepFiles = false } = options;
  const root = keepFiles ? mkdtempSync(join(tmpdir(), 'jackin-history-')) : workshop.root;
  try {
    const { ground, tree } = await begin(workshop, { number, kind, root, open });
    const world = work(ground, tree, { git: plainGit(workshop.git), random });
    const { held, atRisk } = lookBefore(world);
    const before = surroundings(world, gitDirOf(tree.path));
    const why = await options.exit(tree);
    const kept = existsSync(tree.path);
    const after = surroundings(world, before.admin);
    const losses = [
      ...(kept ? differences(before.tree, after.tree).map((line) => `tree: ${line}`) : lossesOf(world, held)),
      ...(kept
        ? differences(before.registration, after.registration).map((line) => `registration: ${line}`)
        : []),
      ...differences(before.host, after.host).map((line) => `host: ${line}`),
      ...differences(before.remotes, after.remotes).map((line) => `remote: ${line}`),
    ];
    const { steps } = world;
    return { seed, kind, steps, kept, safe: atRisk.length === 0, why, losses, atRisk, root };
  } finally {
    if (!keepFiles) rmSync(root, { recursive: true, force: true });
  }
}

interface Surroundings {
  /** The git directory of the tree. */
  admin: string | null;
  tree: Map<string, string>;
  registration: Map<string, string>;
  host: Map<string, string>;
  remotes: Map<string, string>;
}

/** Everything the exit could touch, by name and content. */
function surroundings({ root, tree }: World, admin: string | null): Surroundings {
  const remotes = readdirSync(root).filter((name) => name.endsWith('.git'));
  return {
    admin,
    tree: existsSync(tree.path) ? inventory(tree.path) : new Map(),
    registration: admin !== null && existsSync(admin) ? inventory(admin) : new Map(),
    host: hostOf(tree, admin),
    remotes: new Map(
      remotes.flatMap((name) =>
        [...inventory(join(root, name))].map(([path, what]) => [`${name}/${path}`, what]),
      ),
    ),
  };
}

/** The operator's repository without what is the tree's own in there: its registration, and its branch. */
function hostOf({ host, kind, scratchBranch }: SessionTree, admin: string | null): Map<string, string> {
  if (kind === 'clone' || admin === null) return inventory(host);
  const own = ['.git/refs/heads/jackin', '.git/logs/refs/heads/jackin', `.git/worktrees/${basename(admin)}`];
  const found = inventory(
    host,
    (path) => path === '.git/packed-refs' || own.some((name) => path === name || path.startsWith(`${name}/`)),
  );
  // The directory of registrations goes with the last of them.
  found.delete('.git/worktrees');
  const packed = join(host, '.git/packed-refs');
  const refs = existsSync(packed) ? readFileSync(packed, 'latin1').split('\n') : [];
  for (const line of refs.filter(
    (line) => /^[0-9a-f]/.test(line) && !line.endsWith(` refs/heads/${scratchBranch}`),
  )) {
    found.set(`packed ${line.slice(41)}`, line.slice(0, 40));
  }
  return found;
}
