import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Git as an operator runs it, with a configuration of its own. */
export interface Repository {
  path: string;
  git(args: string[], cwd?: string): string;
  /** The bare repository `origin` leads to. */
  remote: string;
}

const IDENTITY = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Op',
  GIT_AUTHOR_EMAIL: 'op@example.test',
  GIT_COMMITTER_NAME: 'Op',
  GIT_COMMITTER_EMAIL: 'op@example.test',
};

/** Environment for agents that commit. */
export const COMMITS = ['NAME', 'EMAIL'].flatMap((what) => [
  `export GIT_AUTHOR_${what}=agent@example.test GIT_COMMITTER_${what}=agent@example.test;`,
]);

/** A repository with one pushed commit, and the remote it was pushed to. */
export function createRepository(path: string, remote: string): Repository {
  const git = (args: string[], cwd = path): string =>
    execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, ...IDENTITY },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  mkdirSync(path, { recursive: true });
  mkdirSync(remote, { recursive: true });
  git(['init', '-q', '--bare', '-b', 'main'], remote);
  git(['init', '-q', '-b', 'main']);
  execFileSync('sh', ['-c', 'echo one > a; echo ".env" > .gitignore; mkdir -p src; echo two > src/b'], {
    cwd: path,
  });
  git(['add', '-A']);
  git(['commit', '-q', '-m', 'first']);
  git(['remote', 'add', 'origin', remote]);
  git(['push', '-q', 'origin', 'main']);
  git(['fetch', '-q', 'origin']);
  return { path, git, remote };
}

/** Every file of a git directory with its bytes: what an operator would call "my repository". */
export function gitDirectoryOf(path: string, without: RegExp = /^$/): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (inside: string): void => {
    for (const entry of readdirSync(join(path, inside), { withFileTypes: true })) {
      const name = join(inside, entry.name);
      if (without.test(name)) continue;
      if (entry.isDirectory()) {
        found[`${name}/`] = '';
        walk(name);
      } else if (entry.isSymbolicLink()) found[name] = `-> ${readlinkSync(join(path, name))}`;
      else found[name] = readFileSync(join(path, name), 'latin1');
    }
  };
  walk('');
  return found;
}
