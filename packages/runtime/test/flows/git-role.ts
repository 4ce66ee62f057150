import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const MANIFEST =
  'version = "v1alpha6"\ndockerfile = "Dockerfile"\nagents = ["shell"]\n[identity]\nname = "From Git"\n';

/** A real repository with one role in it. */
export function gitRole(dir: string, manifest = MANIFEST) {
  mkdirSync(dir, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1' },
    }).trim();
  git('init', '--quiet', '-b', 'main');
  /** Commits these files and answers with the commit. */
  const commit = (files: Record<string, string>): string => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    git('add', '--all');
    git('commit', '--quiet', '-m', 'change');
    return git('rev-parse', 'HEAD');
  };
  const first = commit({ 'jackin.role.toml': manifest, Dockerfile: 'FROM debian:bookworm-slim\n' });
  return { dir, url: `file://${dir}`, git, commit, first };
}
