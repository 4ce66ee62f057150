import { accessSync, constants, existsSync, mkdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyTree } from './copy.ts';
import { gitShell } from './git-shell.ts';
import { type Ground, makeGround, type OpenTree, openWithGit } from './ground.ts';
import { plainGit, type RunGit } from './plain-git.ts';
import { type SessionTree, SUBMODULE, type TreeKind } from './world.ts';

/** So many grounds of each kind there are; the histories on them are without number. */
export const GROUNDS = 32;
/** Before the clock of any history. */
const GROUND_START = 1_690_000_000;
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 512 << 20;

/** Where one history is made after the other, always in the same place: what a ground says of its paths stays true. */
export interface Workshop {
  git: RunGit;
  /** Where the histories happen. */
  root: string;
  /** Where the grounds are kept as they were before a history. */
  grounds: string;
  known: Map<string, Beginning>;
}

/** A ground with the tree of a session that has not begun to work. */
export interface Beginning {
  ground: Ground;
  tree: SessionTree;
}

/** A workshop in a directory of its own, which has to be there. */
export function openWorkshop(dir: string): Workshop {
  const shell = join(dir, 'shell');
  mkdirSync(shell);
  return {
    git: gitShell(shell),
    root: join(dir, 'history'),
    grounds: join(dir, 'grounds'),
    known: new Map(),
  };
}

/** In memory where there is enough of it: half of what a history costs is files. */
export function placeForWorkshops(): string {
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Makes a ground and opens its tree, or puts it back as it was the first time. */
export async function begin(
  workshop: Workshop,
  { number, kind, root, open }: { number: number; kind: TreeKind; root: string; open: OpenTree | null },
): Promise<Beginning> {
  const git = plainGit(workshop.git, GROUND_START);
  const name = `${kind}-${number}-${open === null ? 'plain' : 'opened'}`;
  const kept = join(workshop.grounds, name);
  const known = root === workshop.root ? workshop.known.get(name) : undefined;
  if (known !== undefined) {
    if (existsSync(root)) rmSync(root, { recursive: true, force: true });
    copyTree(kept, root);
    // Git knows files by their times and numbers as well, and those of a copy are others.
    for (const dir of [known.tree.path, join(known.tree.path, SUBMODULE)]) {
      if (existsSync(join(dir, '.git'))) git(dir, ['update-index', '-q', '--refresh']);
    }
    return known;
  }
  mkdirSync(root, { recursive: true });
  const ground = makeGround(git, 2 * number + (kind === 'clone' ? 1 : 0), kind, root);
  const made = { ground, tree: await (open === null ? openWithGit(git, ground) : open(ground)) };
  if (root === workshop.root) {
    copyTree(root, kept);
    workshop.known.set(name, made);
  }
  return made;
}
