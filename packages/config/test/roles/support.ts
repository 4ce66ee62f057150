import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { JackinError, type JackinEvent, resolvePaths, systemClock } from '@jackin/core';
import type { RoleOptions } from '../../src/roles/resolve.ts';

export const MANIFEST = 'version = "v1alpha6"\ndockerfile = "Dockerfile"\nagents = ["shell"]\n';
export const FROM = 'FROM debian:bookworm-slim\n';

/** A home of jackin, and a place beside it for repositories. */
export function openHome() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'jk-roles-')));
  const paths = resolvePaths({
    JACKIN_HOME_DIR: join(root, 'home'),
    JACKIN_CONFIG_DIR: join(root, 'config'),
  });
  const events: JackinEvent[] = [];
  const clock = { ...systemClock, offsetMs: 0, now: () => new Date(Date.now() + clock.offsetMs) };
  const env = { PATH: process.env.PATH, HOME: join(root, 'user') };
  mkdirSync(env.HOME);
  const common = { paths, clock, env, events: (event: JackinEvent) => void events.push(event) };
  return {
    root,
    paths,
    events,
    /** Put forward with `clock.offsetMs`. */
    clock,
    env,
    common,
    notices: () => events.flatMap((event) => (event.type === 'notice' ? [event.code] : [])),
    /** How often a repository was asked. */
    asked: () => events.filter((event) => event.type === 'stage' && event.state === 'started').length,
    options: (roles: Record<string, object>, changes: Partial<RoleOptions> = {}, ttl = 60): RoleOptions => ({
      ...common,
      loaded: {
        config: { roles, role_repo_refresh_ttl_seconds: ttl } as unknown as RoleOptions['loaded']['config'],
      },
      home: env.HOME,
      shippedRoles: join(root, 'shipped'),
      ...changes,
    }),
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
}
export type Home = ReturnType<typeof openHome>;

/** Contents by path; `link:…` makes a symbolic link, and null takes a file away. */
export type Files = Record<string, string | Buffer | null>;

/** A real repository with one role in it. */
export function makeRepository(dir: string, files: Files = {}, init: string[] = []) {
  mkdirSync(dir, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1' },
    }).trim();
  git('init', '--quiet', '-b', 'main', ...init);
  const commit = (changes: Files): string => {
    writeFiles(dir, changes);
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '-m', 'change');
    return git('rev-parse', 'HEAD');
  };
  const first = commit({ 'jackin.role.toml': MANIFEST, Dockerfile: FROM, ...files });
  return { dir, url: `file://${dir}`, git, commit, first };
}

export function writeFiles(dir: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    if (content === null) continue;
    if (typeof content === 'string' && content.startsWith('link:')) symlinkSync(content.slice(5), file);
    else writeFileSync(file, content, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
  }
}

/** What was thrown, as long as it is ours. */
export async function refusal(call: Promise<unknown> | (() => unknown)): Promise<JackinError> {
  try {
    await (typeof call === 'function' ? call() : call);
  } catch (error) {
    if (error instanceof JackinError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
