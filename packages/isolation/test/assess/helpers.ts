import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import { type Assessment, type AssessOptions, assess, snapshotRefs } from '../../src/index.ts';

/** Git as a developer has it, without this machine's configuration. */
const ENV = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  GIT_CONFIG_GLOBAL: devNull,
  GIT_CONFIG_SYSTEM: devNull,
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

/** For the assessment itself: no configuration of whoever runs the tests. */
export const QUIET: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: '/nonexistent' };

export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'protocol.file.allow=always', '-c', 'init.defaultBranch=main', ...args], {
    cwd,
    env: ENV,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/** A git that is expected to stop with a conflict, say. */
export function failingGit(cwd: string, ...args: string[]): void {
  try {
    git(cwd, ...args);
  } catch {
    return;
  }
  throw new Error(`git ${args.join(' ')} did not fail`);
}

export function write(root: string, name: string, content: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
}

/** Another commit with one more line in a file; answers its id. */
export function commit(root: string, name: string, content = `${name}\n`): string {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  appendFileSync(join(root, name), content);
  git(root, 'add', name);
  git(root, 'commit', '-qm', `change ${name}`);
  return git(root, 'rev-parse', 'HEAD');
}

export interface Ground extends Disposable {
  dir: string;
  /** Bare, outside of everything. */
  remote: string;
  /** The operator's clone of it, on main. */
  repo: string;
}

let template: string | null = null;
afterAll(() => {
  if (template !== null) rmSync(template, { recursive: true, force: true });
});

export function ground(): Ground {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jackin-test-')));
  const [remote, repo] = [join(dir, 'remote.git'), join(dir, 'repo')];
  template ??= makeTemplate();
  // Times too, or git would have to look into every file.
  cpSync(template, dir, { recursive: true, preserveTimestamps: true });
  const config = join(repo, '.git/config');
  writeFileSync(config, readFileSync(config, 'utf8').replace(template, dir));
  return { dir, remote, repo, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Made once, since it takes longer than most tests do. */
function makeTemplate(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jackin-test-')));
  const [remote, repo] = [join(dir, 'remote.git'), join(dir, 'repo')];
  git(dir, 'init', '-q', '--bare', remote);
  git(dir, 'clone', '-q', remote, repo);
  for (const name of ['a', 'b', 'c']) {
    write(repo, name, [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${name}${n}\n`).join(''));
  }
  write(repo, '.gitignore', '*.log\n.env\nscratch/\nnode_modules/\ndist/\n');
  git(repo, 'add', '.');
  git(repo, 'commit', '-qm', 'base');
  git(repo, 'push', '-q', 'origin', 'main');
  return dir;
}

export interface Session extends Ground {
  /** The linked worktree on branch `s`. */
  tree: string;
  base: string;
  options: AssessOptions;
  assess(more?: AssessOptions): Promise<Assessment>;
}

/** `W` of the field reports: a worktree on branch `s`, with what a launch records. */
export async function session(): Promise<Session> {
  const made = ground();
  const tree = join(made.dir, 'W');
  git(made.repo, 'worktree', 'add', '-q', '-b', 's', tree);
  const base = git(tree, 'rev-parse', 'HEAD');
  const options: AssessOptions = {
    base,
    refsAtLaunch: await snapshotRefs(tree),
    expected: { kind: 'worktree', commonDir: join(made.repo, '.git'), scratchBranch: 's' },
    env: QUIET,
  };
  return { ...made, tree, base, options, assess: (more = {}) => assess(tree, { ...options, ...more }) };
}
