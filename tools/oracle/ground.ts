import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustSucceed, type PlainGit } from './plain-git.ts';
import { type Random, randomFrom } from './random.ts';
import { refsOf, stashesOf } from './refs.ts';
import {
  CONFLICT_FILE,
  IGNORED_DIRECTORIES,
  type SessionTree,
  SHARED_FILE,
  SUBMODULE,
  type TreeKind,
} from './world.ts';

/** Where a session starts from: a remote, and the operator's clone of it. */
export interface Ground {
  root: string;
  /** The same number makes the same ground. */
  number: number;
  kind: TreeKind;
  remote: string;
  library: string | null;
  host: string;
}

/** Makes the tree of a session. */
export type OpenTree = (ground: Ground) => Promise<SessionTree>;

/** A remote with a short history and the operator's clone of it, in the empty directory `root`. */
export function makeGround(git: PlainGit, number: number, kind: TreeKind, root: string): Ground {
  const random = randomFrom(number);
  const remote = join(root, 'remote.git');
  const host = join(root, 'host');
  const library = random.chance(0.3) ? join(root, 'library.git') : null;
  if (library !== null) importInto(git, library, libraryHistory());
  const pinned = library === null ? null : mustSucceed(git, library, ['rev-parse', 'refs/heads/main']).trim();
  importInto(git, remote, baseHistory(random, pinned, library));
  mustSucceed(git, root, ['clone', '--quiet', remote, host]);
  const colleague = join(root, 'colleague');
  mustSucceed(git, root, ['clone', '--quiet', remote, colleague]);
  // One store for both: what somebody else has can be told to the remote, and the other way round, by names alone.
  rmSync(join(colleague, '.git/objects'), { recursive: true });
  symlinkSync('../../remote.git/objects', join(colleague, '.git/objects'));
  if (random.chance(0.3)) mustSucceed(git, host, ['branch', 'topic', 'HEAD~1']);
  if (random.chance(0.2)) mustSucceed(git, host, ['tag', 'v1']);
  if (random.chance(0.2)) {
    mustSucceed(git, host, ['commit', '--quiet', '--allow-empty', '-m', 'not pushed by the operator']);
  }
  if (random.chance(0.2)) {
    writeFileSync(join(host, 'stashed.txt'), `stashed before ${random.word()}\n`);
    mustSucceed(git, host, ['stash', 'push', '--quiet', '--include-untracked']);
  }
  return { root, number, kind, remote, library, host };
}

/** A tree made with git itself, as a session's would be. */
export async function openWithGit(git: PlainGit, ground: Ground): Promise<SessionTree> {
  const { host, root, kind } = ground;
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
  // Every push would start one to find that there is nothing to do.
  appendFileSync(join(dir, 'config'), '[receive]\n\tautogc = false\n');
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
