import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustSucceed, type PlainGit, plainGit } from './plain-git.ts';
import { type Random, randomFrom } from './random.ts';
import { refsOf, stashesOf } from './refs.ts';
import { finish } from './steps/finish.ts';
import { STEPS } from './steps/index.ts';
import type { Step } from './steps/step.ts';
import {
  CONFLICT_FILE,
  type SessionTree,
  SHARED_FILE,
  SUBMODULE,
  type TreeKind,
  type World,
} from './world.ts';

/** Where a session starts from: a remote, and the operator's clone of it. */
export interface Ground {
  root: string;
  seed: number;
  kind: TreeKind;
  random: Random;
  git: PlainGit;
  remote: string;
  library: string | null;
  host: string;
}

/** Makes the tree of a session. */
export type OpenTree = (ground: Ground) => Promise<SessionTree>;

const IGNORED_DIRECTORIES = ['scratch', 'node_modules', '.venv', 'target'];
const IGNORED_SUFFIXES = ['.log', '.env'];
const DEPENDENCY_DIRECTORIES = ['node_modules', '.venv', 'target'];
/** How many histories are brought to an end; if few were, keeping every tree would look fine. */
const FINISHED_SHARE = 0.75;
/** How many of those have one thing happen afterwards: the hard cases are those with a single flaw. */
const FLAWED_SHARE = 0.4;
const FLAWS = [
  'the remote branch is deleted, nothing landed',
  'the remote branch is rewritten',
  'commit everything',
  'stash',
  'stash with untracked files',
  'hide new files, and make one',
  'hide an edit by assume-unchanged',
  'hide an edit by skip-worktree',
  'edit without a trace in size and time',
  'leave a branch with a commit behind',
  'detach and commit',
  'a tag',
  'change the mode of a file',
  'commit in the submodule and record it',
  'a branch in the submodule',
  'a clone in an ignored directory with a stash',
  'a clone in an ignored directory with a branch',
  'a repository in an ignored directory',
  'push to a remote inside of the tree',
  'amend',
];

/** A remote with a short history and the operator's clone of it, in the empty directory `root`. */
export function makeGround(seed: number, kind: TreeKind, root: string): Ground {
  const random = randomFrom(seed);
  const git = plainGit();
  const remote = join(root, 'remote.git');
  const host = join(root, 'host');
  const library = random.chance(0.3) ? join(root, 'library.git') : null;
  if (library !== null) importInto(git, library, libraryHistory());
  const pinned = library === null ? null : mustSucceed(git, library, ['rev-parse', 'refs/heads/main']).trim();
  importInto(git, remote, baseHistory(random, pinned, library));
  mustSucceed(git, root, ['clone', '--quiet', remote, host]);
  if (random.chance(0.3)) mustSucceed(git, host, ['branch', 'topic', 'HEAD~1']);
  if (random.chance(0.2)) mustSucceed(git, host, ['tag', 'v1']);
  if (random.chance(0.2)) {
    mustSucceed(git, host, ['commit', '--quiet', '--allow-empty', '-m', 'not pushed by the operator']);
  }
  if (random.chance(0.2)) {
    writeFileSync(join(host, 'stashed.txt'), `stashed before ${random.word()}\n`);
    mustSucceed(git, host, ['stash', 'push', '--quiet', '--include-untracked']);
  }
  return { root, seed, kind, random, git, remote, library, host };
}

/** A tree made with git itself, as a session's would be. */
export const openWithGit: OpenTree = async (ground) => {
  const { git, host, root, kind } = ground;
  const path = join(root, 'tree');
  const base = mustSucceed(git, host, ['rev-parse', 'HEAD']).trim();
  if (kind === 'worktree') {
    mustSucceed(git, host, ['worktree', 'add', '--quiet', '-b', 'jackin/scratch/x', path]);
  } else {
    mustSucceed(git, root, ['clone', '--quiet', '--no-hardlinks', host, path]);
    mustSucceed(git, path, ['remote', 'set-url', 'origin', ground.remote]);
    mustSucceed(git, path, ['fetch', '--quiet', '--prune', 'origin']);
  }
  const commonDir = join(kind === 'worktree' ? host : path, '.git');
  if (ground.library !== null) mustSucceed(git, path, ['submodule', '--quiet', 'update', '--init']);
  return {
    path,
    kind,
    host,
    commonDir,
    base,
    refsAtLaunch: refsAtLaunch(path, commonDir),
    scratchBranch: kind === 'worktree' ? 'jackin/scratch/x' : null,
  };
};

/** Lets an agent, an operator and a colleague work for a while. */
export function work(ground: Ground, tree: SessionTree): World {
  const world: World = {
    root: ground.root,
    random: ground.random,
    git: ground.git,
    remote: ground.remote,
    mirror: null,
    library: ground.library,
    colleague: null,
    tree,
    session: {
      branches: new Set([tree.scratchBranch ?? 'main']),
      tags: new Set(),
      stashes: new Set(),
    },
    truth: {
      landed: new Set(),
      rewritten: [],
      mergedBlobs: new Set(),
      ignoredDirectories: new Set(IGNORED_DIRECTORIES),
      ignoredSuffixes: new Set(IGNORED_SUFFIXES),
      dependencyDirectories: new Set(DEPENDENCY_DIRECTORIES),
    },
    insideRemotes: new Set(),
    steps: [],
  };
  const { random } = world;
  const total = STEPS.reduce((sum, { weight }) => sum + weight, 0);
  for (let left = 5 + random.below(14); left > 0; left -= 1) {
    let draw = random.next() * total;
    const step = STEPS.find(({ weight }) => {
      draw -= weight;
      return draw < 0;
    });
    take(world, step);
  }
  if (random.chance(FINISHED_SHARE)) {
    finish(world);
    if (random.chance(FLAWED_SHARE)) {
      const flaw = random.pick(FLAWS);
      take(
        world,
        STEPS.find(({ name }) => name === flaw),
      );
    }
  }
  return world;
}

function take(world: World, step: Step | undefined): void {
  if (step !== undefined && step.take(world) !== false) world.steps.push(step.name);
}

/** Everything a repository calls by a name, apart from what it knows of its remotes. */
function refsAtLaunch(dir: string, commonDir: string): Record<string, string> {
  const refs = [...refsOf(dir)].filter(([name]) => !name.startsWith('refs/remotes/'));
  const stashes = stashesOf(commonDir).map((id, index, all) => [`stash@{${all.length - 1 - index}}`, id]);
  return Object.fromEntries([...refs, ...stashes]);
}

function importInto(git: PlainGit, dir: string, history: string): void {
  mkdirSync(dir);
  mustSucceed(git, dir, ['init', '--quiet', '--bare']);
  mustSucceed(git, dir, ['fast-import', '--quiet'], history);
}

function libraryHistory(): string {
  return commit(1, 'a library', [file('library.c', 'int answer = 42;\n'), file('README', 'a library\n')]);
}

function baseHistory(random: Random, pinned: string | null, library: string | null): string {
  const shared = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
  const first = [
    file('.gitignore', `${IGNORED_DIRECTORIES.join('/\n')}/\n*.log\n*.env\n`),
    file(SHARED_FILE, `${shared}\n`),
    file(CONFLICT_FILE, 'one line\n'),
    file('src/main.c', `int main(void) { return ${random.below(1000)}; }\n`),
    file('src/util/names.c', 'char *names[] = {0};\n'),
    file('guide/start.md', '# Guide\n'),
    file('bin/run', '#!/bin/sh\n', '100755'),
    ...(pinned === null
      ? []
      : [
          file('.gitmodules', `[submodule "${SUBMODULE}"]\n\tpath = ${SUBMODULE}\n\turl = ${library}\n`),
          `M 160000 ${pinned} ${SUBMODULE}\n`,
        ]),
  ];
  const later = Array.from({ length: 2 + random.below(3) }, (_, number) =>
    commit(number + 2, `change ${number}`, [
      file(`src/part-${number}.c`, `int part = ${random.below(9999)};\n`),
    ]),
  );
  return commit(1, 'start', first) + later.join('');
}

function commit(number: number, message: string, changes: string[]): string {
  const who = `A U Thor <author@example.com> ${1_600_000_000 + number} +0000`;
  return `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\n${data(message)}${changes.join('')}\n`;
}

function file(path: string, content: string, mode = '100644'): string {
  return `M ${mode} inline ${path}\n${data(content)}`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
