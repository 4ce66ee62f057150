import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** A tree somebody may plant things in, with work that nobody has pushed. */
export interface Scene extends Disposable {
  root: string;
  kind: 'worktree' | 'clone';
  tree: string;
  host: string;
  /** Of the tree: in a worktree, its registration in the host's repository. */
  gitDir: string;
  commonDir: string;
  base: string;
  refsAtLaunch: Record<string, string>;
  scratchBranch: string | null;
  /** A program that must not run; it leaves a note. */
  program: string;
  /** Not part of anything: nothing in here may be read. */
  outside: string;
  /** What the program was called with so far. */
  fired(): string[];
  /** What was read outside since `watch`. */
  read(): string[];
  watch(): void;
  /** Git as anybody calls it in the tree, without a terminal; ends within a few seconds. */
  git(args: readonly string[], options?: { dir?: string; input?: string | Buffer }): Promise<GitEnd>;
}

export interface GitEnd {
  code: number | null;
  out: string;
  error: string;
}

const PLAIN_GIT_LIMIT_MS = 8_000;

/** A pushed repository and a tree of it, in which a tracked file was edited and another one is new. */
export async function hostileScene(kind: Scene['kind']): Promise<Scene> {
  const made = templates[kind] ?? template(kind);
  templates[kind] = made;
  const from = await made;
  const root = mkdtempSync(join(tmpdir(), 'jackin-hostile-'));
  for (const { path, directory, mode, content } of from.entries) {
    if (directory) mkdirSync(join(root, path));
    else writeFileSync(join(root, path), content, { mode });
  }
  const [host, tree, outside] = ['host', treeOf(kind), 'outside'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [
    join(host, '.git/config'),
    join(host, `.git/worktrees/${CONTAINER}/gitdir`),
    ...(kind === 'clone' ? [join(tree, '.git/config')] : [join(tree, '.git')]),
  ]) {
    if (existsSync(path)) writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from.root, root));
  }
  const program = join(root, 'planted');
  const notes = join(root, 'fired');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${notes}'\nexit 0\n`);
  chmodSync(program, 0o755);
  const scratchBranch = kind === 'worktree' ? SCRATCH : null;
  let watched: string[] = [];
  return {
    root,
    kind,
    tree,
    host,
    gitDir: kind === 'clone' ? join(tree, '.git') : join(host, `.git/worktrees/${CONTAINER}`),
    commonDir: join(kind === 'clone' ? tree : host, '.git'),
    base: from.base,
    refsAtLaunch: {
      'refs/heads/main': from.base,
      ...(scratchBranch === null ? {} : { [`refs/heads/${scratchBranch}`]: from.base }),
    },
    scratchBranch,
    program,
    outside,
    git: (args, options = {}) => plainGit(options.dir ?? tree, args, options.input),
    fired: () => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []),
    read: () => watched.filter((path) => lstatSync(path).atimeMs > 0),
    watch: () => {
      watched = everything(outside).filter((path) => !lstatSync(path).isSymbolicLink());
      // A read moves the time of access when that is older than the time of change, on any usual mount.
      for (const path of watched) utimesSync(path, 0, statSync(path).mtime);
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

const SCRATCH = 'jackin/scratch/x';
/** What the instance of the tree is called. */
export const CONTAINER = 'jk-x';

/** Where an instance has the tree of the mount `/workspace`. */
function treeOf(kind: Scene['kind']): string {
  return `data/git/${kind}/repo/workspace/${CONTAINER}`;
}

interface Template {
  root: string;
  base: string;
  /** Parents first. */
  entries: { path: string; directory: boolean; mode: number; content: Buffer }[];
}

/** Written anew for each scene, which is much faster than a dozen gits; kept in memory, so that nothing stays behind. */
const templates: Partial<Record<Scene['kind'], Promise<Template>>> = {};

async function template(kind: Scene['kind']): Promise<Template> {
  const root = mkdtempSync(join(tmpdir(), 'jackin-hostile-template-'));
  try {
    const base = await makeTemplate(kind, root);
    const entries = everything(root)
      .slice(1)
      .map((path) => {
        const stats = statSync(path);
        const directory = stats.isDirectory();
        const content = directory ? Buffer.alloc(0) : readFileSync(path);
        return { path: relative(root, path), directory, mode: stats.mode & 0o777, content };
      });
    return { root, base, entries };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function makeTemplate(kind: Scene['kind'], root: string): Promise<string> {
  const [host, tree, remote] = ['host', treeOf(kind), 'remote.git'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(join(root, 'outside'));
  mkdirSync(dirname(tree), { recursive: true });
  await must(plainGit(root, ['init', '--quiet', '--bare', remote]));
  await must(plainGit(root, ['clone', '--quiet', remote, host]));
  mkdirSync(join(host, 'src'));
  for (const name of ['a.txt', 'b.txt', 'src/c.txt']) writeFileSync(join(host, name), `${name}\n`);
  await must(plainGit(host, ['add', '--all']));
  await must(plainGit(host, ['commit', '--quiet', '--message', 'first']));
  writeFileSync(join(host, 'b.txt'), 'second\n');
  await must(plainGit(host, ['commit', '--quiet', '--all', '--message', 'second']));
  await must(plainGit(host, ['push', '--quiet', '--set-upstream', 'origin', 'main']));
  if (kind === 'clone') await must(plainGit(root, ['clone', '--quiet', remote, tree]));
  else await must(plainGit(host, ['worktree', 'add', '--quiet', '-b', SCRATCH, tree]));
  const base = (await must(plainGit(tree, ['rev-parse', 'HEAD']))).out.trim();
  appendFileSync(join(tree, 'a.txt'), 'work\n');
  writeFileSync(join(tree, 'new.txt'), 'new work\n');
  return base;
}

/** @throws Error with git's words when it failed */
async function must(end: Promise<GitEnd>): Promise<GitEnd> {
  const { code, out, error } = await end;
  if (code !== 0) throw new Error(`git ended with ${code}: ${error}`);
  return { code, out, error };
}

function plainGit(dir: string, args: readonly string[], input: string | Buffer = ''): Promise<GitEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<GitEnd>();
  const child = spawn('git', args, {
    cwd: dir,
    timeout: PLAIN_GIT_LIMIT_MS,
    killSignal: 'SIGKILL',
    // Its own group: what it started is ended with it.
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: devNull,
      LC_ALL: 'C',
      TERM: 'xterm',
      GIT_CONFIG_GLOBAL: devNull,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'A U Thor',
      GIT_AUTHOR_EMAIL: 'author@example.com',
      GIT_COMMITTER_NAME: 'C O Mitter',
      GIT_COMMITTER_EMAIL: 'committer@example.com',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'init.defaultBranch',
      GIT_CONFIG_VALUE_0: 'main',
      GIT_CONFIG_KEY_1: 'protocol.file.allow',
      GIT_CONFIG_VALUE_1: 'always',
    },
  });
  const [out, error]: Buffer[][] = [[], []] as [Buffer[], Buffer[]];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => error.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  child.once('error', reject);
  child.once('close', (code) =>
    resolve({
      code,
      out: Buffer.concat(out).toString('latin1'),
      error: Buffer.concat(error).toString('utf8'),
    }),
  );
  return promise;
}

/** The directory and all that is below it; links are not followed. */
function everything(dir: string): string[] {
  return [
    dir,
    ...readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? everything(join(dir, entry.name)) : [join(dir, entry.name)],
    ),
  ];
}
