import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Exit } from '../../oracle/history.ts';
import { plainGit } from '../../oracle/plain-git.ts';
import type { SessionTree } from '../../oracle/world.ts';

/** Mistakes tools like this one have really made. */
export type Mistake =
  | 'takes a gone upstream for landed'
  | 'forgets stashes'
  | 'trusts the settings of the repository'
  | 'looks at HEAD only'
  | 'overlooks nested repositories';

/** A careful exit written in plain git: keeps whatever it cannot see through, unless it makes a mistake. */
export function plausibleExit(mistake: Mistake | null): Exit {
  return async (tree) => {
    const why = await reasonToKeep(tree, mistake);
    if (why === null) removeWithGit(tree);
    return why ?? '';
  };
}

async function reasonToKeep(tree: SessionTree, mistake: Mistake | null): Promise<string | null> {
  const admin = tree.kind === 'worktree' ? adminDir(tree) : join(tree.path, '.git');
  const trusting = mistake === 'trusts the settings of the repository';
  const status = trusting
    ? await git(tree.path, 'status', '--porcelain')
    : await git(
        tree.path,
        ...SUSPICIOUS,
        'status',
        '--porcelain',
        '--untracked-files=all',
        '--ignore-submodules=none',
      );
  if (status !== '') return 'files';
  if (!trusting && (await hidesFiles(tree))) return 'hidden files';
  if (OPERATIONS.some((name) => existsSync(join(admin, name)))) return 'an operation';
  if (mistake !== 'overlooks nested repositories' && hasNested(tree.path)) return 'a nested repository';
  if (mistake !== 'forgets stashes' && (await hasNewStash(tree))) return 'a stash';
  return (await isAhead(tree, mistake)) ? 'commits' : null;
}

const OPERATIONS = [
  'rebase-merge',
  'rebase-apply',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
];

const SUSPICIOUS = [
  'core.excludesFile=',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.untrackedCache=false',
  'core.fsmonitor=false',
].flatMap((setting) => ['-c', setting]);

async function hidesFiles(tree: SessionTree): Promise<boolean> {
  const flagged = (await git(tree.path, 'ls-files', '-v', '-z'))
    .split('\0')
    .filter((line) => /^[a-zS]/.test(line));
  return flagged.some((line) => /^[a-z]/.test(line) || existsSync(join(tree.path, line.slice(2))));
}

async function hasNewStash(tree: SessionTree): Promise<boolean> {
  const entries = (await git(tree.path, 'stash', 'list', '--format=%H'))
    .split('\n')
    .filter((line) => line !== '');
  return entries.some((id) => !Object.values(tree.refsAtLaunch).includes(id));
}

async function isAhead(tree: SessionTree, mistake: Mistake | null): Promise<boolean> {
  const refs = (await git(tree.path, 'for-each-ref', '--format=%(objectname) %(refname)%00%(upstream:track)'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      id: line.slice(0, 40),
      name: line.slice(41).split('\0')[0] ?? '',
      track: line.split('\0')[1],
    }));
  const moved = refs
    .filter(({ name }) => !name.startsWith('refs/remotes/') && name !== 'refs/stash')
    .filter(({ name, id }) => tree.refsAtLaunch[name] !== id);
  const landed =
    mistake === 'takes a gone upstream for landed' ? moved.filter(({ track }) => track === '[gone]') : [];
  const tips = mistake === 'looks at HEAD only' ? ['HEAD'] : ['HEAD', ...moved.map(({ id }) => id)];
  const known = [tree.base, ...Object.values(tree.refsAtLaunch), ...landed.map(({ id }) => id)];
  return (
    (await git(
      tree.path,
      'rev-list',
      '-1',
      ...tips,
      '--not',
      ...known,
      '--exclude=inside/*',
      '--remotes',
    )) !== ''
  );
}

/** Another `.git`, or something that looks like a bare repository. */
function hasNested(dir: string, top = true): boolean {
  return readdirSync(dir, { withFileTypes: true }).some((entry) => {
    if (entry.name === '.git') return !top;
    if (!entry.isDirectory() || entry.name === 'node_modules') return false;
    const path = join(dir, entry.name);
    return (existsSync(join(path, 'HEAD')) && existsSync(join(path, 'objects'))) || hasNested(path, false);
  });
}

function adminDir(tree: SessionTree): string {
  return resolve(tree.path, readFileSync(join(tree.path, '.git'), 'utf8').replace('gitdir: ', '').trim());
}

async function git(dir: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['-C', dir, ...args], {
    encoding: 'latin1',
    env: { ...process.env, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
    maxBuffer: 64 << 20,
  });
  return stdout;
}

/** The tree, its registration and its branch, and nothing else. */
function removeWithGit({ path, kind, host, scratchBranch }: SessionTree): void {
  const admin =
    kind === 'worktree'
      ? resolve(path, readFileSync(`${path}/.git`, 'utf8').slice('gitdir: '.length).trim())
      : null;
  rmSync(path, { recursive: true, force: true });
  if (admin === null) return;
  if (existsSync(admin)) rmSync(admin, { recursive: true });
  plainGit()(host, ['update-ref', '-d', `refs/heads/${scratchBranch}`]);
}
