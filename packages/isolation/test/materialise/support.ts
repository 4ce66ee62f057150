import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import {
  inspectSource,
  type MaterialiseDecision,
  type MaterialiseInput,
  type MaterialisePlan,
  planMaterialise,
  treePathOf,
} from '../../src/index.ts';

/** Nothing of the machine's own configuration. */
const ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.org',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.org',
  LC_ALL: 'C',
};

/** Plain git, as the operator or the agent uses it. */
export function git(cwd: string, ...args: string[]): string {
  const all = ['-c', 'protocol.file.allow=always', '-c', 'safe.directory=*', ...args];
  return execFileSync('git', all, {
    cwd,
    env: ENV,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}

export function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

export function commit(cwd: string, file: string, content = file): string {
  write(join(cwd, file), content);
  git(cwd, 'add', '-A');
  git(cwd, 'commit', '-q', '-m', `write ${file}`);
  return git(cwd, 'rev-parse', 'HEAD');
}

export interface World {
  dir: string;
  /** A repository on `main` with one commit, pushed to `remote`. */
  repo: string;
  remote: string;
  /** An instance's data directory. */
  data(name: string): string;
  clean(): void;
}

export function makeWorld(): World {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jk-mat-')));
  const remote = join(dir, 'remote.git');
  const repo = join(dir, 'repo');
  git(dir, 'init', '-q', '--bare', '-b', 'main', remote);
  git(dir, 'init', '-q', '-b', 'main', repo);
  commit(repo, 'README', 'hello\n');
  git(repo, 'remote', 'add', 'origin', remote);
  git(repo, 'push', '-q', '-u', 'origin', 'main');
  return {
    dir,
    repo,
    remote,
    data: (name) => join(dir, 'home', 'data', name),
    clean: () => rmSync(dir, { recursive: true, force: true }),
  };
}

export type Wanted = Partial<MaterialiseInput['mount']> & { src: string };

/** What planMaterialise says about a source as it is. */
export async function decide(
  world: World,
  wanted: Wanted,
  more: Partial<MaterialiseInput> = {},
): Promise<MaterialiseDecision> {
  const mount = { dst: '/workspace/app', isolation: 'worktree' as const, readonly: false, ...wanted };
  const container = more.container ?? 'jk-aaaa1111-app-role';
  return planMaterialise({
    mount,
    facts: await inspectSource(mount.src, { env: { PATH: process.env.PATH } }),
    container,
    treePath: treePathOf(world.data(container), mount.isolation, mount.dst, container),
    treeExists: 'no',
    workspace: 'app',
    selectorKey: 'role',
    contained: true,
    interactive: true,
    force: false,
    skipLfs: false,
    ...more,
  });
}

export async function planned(
  world: World,
  wanted: Wanted,
  more: Partial<MaterialiseInput> = {},
): Promise<MaterialisePlan> {
  const decision = await decide(world, wanted, more);
  if (decision.outcome === 'refused') throw new Error(decision.error.message);
  return decision.plan;
}

export async function refusalOf(
  world: World,
  wanted: Wanted,
  more: Partial<MaterialiseInput> = {},
): Promise<string> {
  const decision = await decide(world, wanted, more);
  return decision.outcome === 'refused' ? decision.error.code : decision.outcome;
}

/** Every entry below a directory with its bytes, by relative name. */
export function listing(
  directory: string,
  leaveOut: (name: string) => boolean = () => false,
): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (at: string) => {
    for (const name of readdirSync(at).sort()) {
      const path = join(at, name);
      const stats = lstatSync(path);
      const shown = relative(directory, path);
      if (leaveOut(shown)) continue;
      if (stats.isDirectory()) {
        found[`${shown}/`] = (stats.mode & 0o777).toString(8);
        walk(path);
      } else if (stats.isSymbolicLink()) found[shown] = `-> ${readlinkSync(path)}`;
      else found[shown] = readFileSync(path).toString('base64');
    }
  };
  walk(directory);
  return found;
}
