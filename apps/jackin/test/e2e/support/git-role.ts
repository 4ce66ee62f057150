import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A real repository with one role in it, and the commit it is at. */
export function gitRole(dir: string, agents: string[]): { url: string; commit: string } {
  mkdirSync(dir);
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1' },
    }).trim();
  writeFileSync(
    join(dir, 'jackin.role.toml'),
    `version = "v1alpha6"\ndockerfile = "Dockerfile"\nagents = ${JSON.stringify(agents)}\n`,
  );
  writeFileSync(join(dir, 'Dockerfile'), 'FROM debian:bookworm-slim\n');
  git('init', '--quiet', '-b', 'main');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'role');
  return { url: `file://${dir}`, commit: git('rev-parse', 'HEAD') };
}
