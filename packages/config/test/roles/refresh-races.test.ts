import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { gitSource } from '../../src/roles/git-source.ts';
import { refreshRepository } from '../../src/roles/repository.ts';
import { repositoryPlace } from '../../src/roles/repository-place.ts';
import { type Home, makeRepository, openHome } from './support.ts';

// Real processes, each of which runs git several times, on a machine that may be busy.
jest.setTimeout(120_000);

const CHILD = fileURLToPath(new URL('refresh-child.ts', import.meta.url));
let home: Home;
let repository: ReturnType<typeof makeRepository>;
let children: ChildProcess[];

beforeEach(() => {
  home = openHome();
  repository = makeRepository(join(home.root, 'role'), { 'big.bin': Buffer.alloc(512 * 1024, 7) });
  children = [];
});
afterEach(async () => {
  rmSync(hold(), { force: true });
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  home.dispose();
});

const hold = () => join(home.root, 'hold');
const fetched = () => join(home.root, 'fetched');
const place = () => repositoryPlace(home.paths, gitSource('r', repository.url));
const workDirectories = () => readdirSync(place().dir).filter((name) => name.startsWith('work-'));

function start(ttl: number, path = process.env.PATH ?? ''): { child: ChildProcess; result: Promise<Result> } {
  const child = spawn(process.execPath, ['--conditions=@jackin/source', CHILD, repository.url, String(ttl)], {
    env: { PATH: path, HOME: home.env.HOME, JACKIN_HOME_DIR: home.paths.homeDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  let errors = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const result = once(child, 'close').then(([code]) => {
    if (code !== 0) throw new Error(`the child ended with ${code}: ${errors}`);
    return JSON.parse(output) as Result;
  });
  result.catch(() => undefined);
  return { child, result };
}

interface Result {
  commit: string;
  dir: string;
  asked: number;
}

/** A git that does what it is told and, once it has fetched, stays until `hold` is taken away. */
function slowGit(): string {
  const bin = join(home.root, 'bin');
  mkdirSync(bin);
  const real = (process.env.PATH ?? '')
    .split(':')
    .map((dir) => join(dir, 'git'))
    .find(existsSync);
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\n'${real}' "$@"\ncode=$?\ncase " $* " in *' fetch '*) touch '${fetched()}'; while [ -e '${hold()}' ]; do sleep 0.02; done;; esac\nexit $code\n`,
    { mode: 0o755 },
  );
  writeFileSync(hold(), '');
  return `${bin}:${process.env.PATH}`;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await systemClock.sleep(10);
}

describe('two processes at once', () => {
  test('ask the repository once, and have the same commit', async () => {
    const results = await Promise.all([1, 2, 3, 4].map(() => start(60).result));
    expect(new Set(results.map(({ commit, dir }) => `${commit} ${dir}`)).size).toBe(1);
    expect(results.reduce((sum, { asked }) => sum + asked, 0)).toBe(1);
    expect(workDirectories()).toEqual([]);
  });

  test('that must ask wait for each other, and each has a whole role', async () => {
    const first = start(0, slowGit());
    await until(() => existsSync(fetched()));
    const second = start(0);
    const newer = repository.commit({ new: 'x' });
    rmSync(hold());
    const [one, two] = await Promise.all([first.result, second.result]);
    expect(one.commit).toBe(repository.first);
    expect([repository.first, newer]).toContain(two.commit);
    for (const { dir } of [one, two]) expect(readFileSync(join(dir, 'big.bin'))).toHaveLength(512 * 1024);
  });
});

describe('a process that is killed', () => {
  test('in the middle of a clone leaves no commit that is half, and the next one goes on', async () => {
    const { child } = start(60, slowGit());
    await until(() => existsSync(fetched()));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readdirSync(place().trees)).toEqual([]);
    expect(workDirectories()).toHaveLength(1);
    rmSync(hold());
    const { commit, dir } = await refreshRepository(gitSource('r', repository.url), null, {
      ...home.common,
      ttlSeconds: 60,
    });
    expect(commit).toBe(repository.first);
    expect(readFileSync(join(dir, 'big.bin'))).toHaveLength(512 * 1024);
    expect(home.events).toContainEqual(expect.objectContaining({ type: 'lock', state: 'taken_over' }));
    // A git that outlived its parent may have written into it while it was removed; the next refresh has it gone.
    await refreshRepository(gitSource('r', repository.url), null, { ...home.common, ttlSeconds: 0 });
    expect(workDirectories()).toEqual([]);
  });

  test('at any moment: what is there is whole or not there', async () => {
    for (let round = 0; round < 8; round++) {
      const commit = repository.commit({
        round: String(round),
        [`dir${round}/big.bin`]: Buffer.alloc(256 * 1024, round),
      });
      const { child, result } = start(0);
      const ended = result.then(
        () => true,
        () => false,
      );
      // From before git runs to after the export.
      await Promise.race([ended, systemClock.sleep(150 + round * 60)]);
      child.kill('SIGKILL');
      await ended;
      for (const tree of existsSync(place().trees) ? readdirSync(place().trees) : []) {
        const expected = repository.git('ls-tree', '-r', '--name-only', tree).split('\n');
        for (const path of expected) {
          const size = Number(repository.git('cat-file', '-s', `${tree}:${path}`));
          expect([path, readFileSync(join(place().trees, tree, path)).length]).toEqual([path, size]);
        }
      }
      const next = await refreshRepository(gitSource('r', repository.url), null, {
        ...home.common,
        ttlSeconds: 0,
      });
      expect(next.commit).toBe(commit);
    }
  });
});
