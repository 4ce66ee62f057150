import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hardenedGit, type RunResult } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type GitRunner, type Materialised, materialise, removeMaterialised } from '../../src/index.ts';
import { commit, git, listing, makeWorld, planned, type World } from './support.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.clean());

const killed: RunResult = {
  stdout: Buffer.alloc(0),
  stderr: Buffer.from('fatal: injected'),
  exitCode: null,
  signal: 'SIGKILL',
  timedOut: false,
  notFound: false,
  truncated: false,
  failure: null,
};

function addSubmodule({ dir, repo }: World): void {
  const inner = join(dir, 'inner');
  git(dir, 'init', '-q', '-b', 'main', inner);
  commit(inner, 'inner');
  git(repo, 'submodule', 'add', '-q', inner, 'sub');
  git(repo, 'commit', '-q', '-m', 'sub');
}

/** The n-th git of a materialisation is ended before or after it did its work; later ones work. */
function failingAt(n: number, when: 'before' | 'after'): { git: GitRunner; reached: () => boolean } {
  let count = 0;
  return {
    reached: () => count >= n,
    git: async (args, options) => {
      count += 1;
      if (count !== n) return await hardenedGit(args, options);
      if (when === 'after') await hardenedGit(args, options);
      return killed;
    },
  };
}

describe('a tree that fails half way', () => {
  test.each([
    ['worktree', 'before', ''],
    ['worktree', 'after', ' with a submodule'],
    ['clone', 'after', ''],
  ] as const)(
    'leaves nothing behind: a %s, %s any of its git calls%s',
    async (isolation, when, sub) => {
      if (sub !== '') addSubmodule(world);
      const plan = await planned(world, { src: world.repo, isolation });
      const before = listing(join(world.repo, '.git'));
      let failures = 0;
      for (let n = 1; ; n += 1) {
        const failing = failingAt(n, when);
        const result = await materialise(plan, { git: failing.git }).catch((error: unknown) => error);
        if (result instanceof Error) {
          failures += 1;
          expect(result).toMatchObject({ code: 'MATERIALISE_FAILED', details: { left: [] } });
        } else {
          // The failure of a call that only looks whether something is there is an answer.
          await removeMaterialised((result as Materialised).record);
          rmSync(join(world.dir, 'home'), { recursive: true });
        }
        expect(listing(join(world.repo, '.git'))).toEqual(before);
        expect(existsSync(join(world.dir, 'home'))).toBe(false);
        if (!failing.reached()) break;
      }
      expect(failures).toBeGreaterThan(2);
    },
    120_000,
  );
});

describe('what cannot be undone', () => {
  test('is named in the error', async () => {
    const plan = await planned(world, { src: world.repo });
    let gone = false;
    const failing: GitRunner = async (args, options) => {
      if (args[0] === 'worktree') gone = true;
      return gone ? killed : await hardenedGit(args, options);
    };
    await expect(materialise(plan, { git: failing })).rejects.toMatchObject({
      code: 'MATERIALISE_FAILED',
      message: expect.stringContaining(`Left behind: the branch ${plan.scratch?.name}`),
      details: { left: [expect.stringContaining('the branch')] },
    });
  });

  test('a branch that was adopted is back where it was', async () => {
    git(world.repo, 'branch', 'jackin/scratch/jk-aaaa1111-app-role');
    const old = git(world.repo, 'rev-parse', 'HEAD');
    commit(world.repo, 'newer');
    const plan = await planned(world, { src: world.repo });
    const failing: GitRunner = async (args, options) =>
      args[0] === 'worktree' ? killed : await hardenedGit(args, options);
    await expect(materialise(plan, { git: failing })).rejects.toMatchObject({ code: 'MATERIALISE_FAILED' });
    expect(git(world.repo, 'rev-parse', 'jackin/scratch/jk-aaaa1111-app-role')).toBe(old);
  });

  test('an abort undoes and comes back as the abort', async () => {
    const plan = await planned(world, { src: world.repo });
    const before = listing(join(world.repo, '.git'));
    const control = new AbortController();
    const aborting: GitRunner = async (args, options) => {
      if (args[0] === 'worktree') control.abort(new DOMException('stop', 'AbortError'));
      return await hardenedGit(args, options);
    };
    await expect(materialise(plan, { git: aborting, signal: control.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(listing(join(world.repo, '.git'))).toEqual(before);
  });
});
