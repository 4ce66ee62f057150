import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { hardenedGit, JackinError, type RunResult } from '@jackin/core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { assess, type GitRunner, snapshotRefs } from '../../src/index.ts';
import { commit, type Ground, git, ground, QUIET, type Session, session, write } from './helpers.ts';

const ended: RunResult = {
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  exitCode: 0,
  signal: null,
  timedOut: false,
  notFound: false,
  truncated: false,
  failure: null,
};

/** What may become of a git process. */
const FAULTS: Record<string, (other: Ground) => GitRunner> = {
  'a non-zero exit': () => async () => ({ ...ended, exitCode: 128, stderr: Buffer.from('fatal: no\n') }),
  'a signal': () => async () => ({ ...ended, exitCode: null, signal: 'SIGKILL' }),
  'a timeout': () => async () => ({ ...ended, exitCode: null, signal: 'SIGTERM', timedOut: true }),
  garbage: () => async () => ({ ...ended, stdout: Buffer.from('\0\u0001 garbage\n\n\0x') }),
  'an empty output with code 0': () => async () => ended,
  'half of the output': () => async (args, options) => {
    const result = await hardenedGit(args, options);
    return {
      ...result,
      stdout: result.stdout.subarray(0, Math.floor(result.stdout.length / 2)),
      truncated: true,
    };
  },
  'no git': () => async () => {
    throw new JackinError({ code: 'GIT_MISSING', message: 'There is no git on this machine.' });
  },
  'the answer of another repository': (other) => (args, options) =>
    hardenedGit(args, {
      ...options,
      gitDir: join(other.repo, '.git'),
      ...(options.workTree === undefined ? {} : { workTree: other.repo }),
    }),
};

type Options = Parameters<typeof assess>[1];

/** Its verdict with a fault in each of the calls from one on in turn, by name of the call. */
async function withFaults(
  tree: string,
  fault: GitRunner,
  { from = 0, ...options }: Options & { from?: number },
): Promise<[string, string][]> {
  const verdicts: [string, string][] = [];
  for (let at = from; ; at += 1) {
    let calls = 0;
    let failed: string | null = null;
    const runner: GitRunner = (args, call) => {
      calls += 1;
      if (calls !== at + 1) return hardenedGit(args, call);
      failed = args[0] ?? '';
      return fault(args, call);
    };
    const { verdict } = await assess(tree, { ...options, env: QUIET, git: runner });
    if (failed === null) return verdicts;
    verdicts.push([failed, verdict]);
  }
}

const names = Object.keys(FAULTS);
const OTHER = 'the answer of another repository';

describe('a git call that fails', () => {
  let s: Session;
  let other: Ground;

  beforeAll(async () => {
    s = await session();
    other = ground();
    commit(other.repo, 'other');
    // Something for every call to look at, and nothing that would be lost.
    git(s.tree, 'update-index', '--assume-unchanged', 'a');
    write(s.tree, 'node_modules/m/i.js', '1');
    git(s.dir, 'clone', '-q', s.remote, join(s.tree, 'scratch/n'));
  });
  afterAll(() => {
    s[Symbol.dispose]();
    other[Symbol.dispose]();
  });

  test.each(names)('makes a clean tree unknown: %s', async (name) => {
    const verdicts = await withFaults(s.tree, FAULTS[name]?.(other) as GitRunner, s.options);
    const calls = verdicts.map(([call]) => call).sort();
    const inner = ['config', 'rev-list', 'status'];
    expect(calls).toEqual(['check-ignore', 'hash-object', ...inner, ...inner].sort());
    // What these read is on standard input, or where git was started: any repository answers the same.
    const same = name === OTHER ? ['config', 'hash-object', 'check-ignore'] : [];
    for (const [call, verdict] of verdicts) {
      expect([call, verdict]).toEqual([call, same.includes(call) ? 'clean' : 'unknown']);
    }
  });

  test.each(names)('never hides a change the index was told to hide: %s', async (name) => {
    appendFileSync(join(s.tree, 'a'), 'x\n');
    try {
      for (const [call, verdict] of await withFaults(s.tree, FAULTS[name]?.(other) as GitRunner, {
        ...s.options,
        from: 3,
      })) {
        expect([call, verdict]).not.toEqual([call, 'clean']);
      }
    } finally {
      git(s.tree, 'update-index', '--no-assume-unchanged', 'a');
      git(s.tree, 'checkout', '-q', 'a');
      git(s.tree, 'update-index', '--assume-unchanged', 'a');
    }
  });

  test.each(names)('makes it unknown what a tag is: %s', async (name) => {
    using g = ground();
    const refsAtLaunch = await snapshotRefs(g.repo);
    git(g.repo, 'tag', '-a', 'v1', '-m', 'x');
    git(g.repo, 'push', '-q', 'origin', 'v1');
    const asked: string[] = [];
    const runner: GitRunner = (args, call) => {
      asked.push(args[0] ?? '');
      return (
        (args[0] === 'cat-file' ? FAULTS[name]?.(other) : undefined)?.(args, call) ?? hardenedGit(args, call)
      );
    };
    const options = { refsAtLaunch, env: QUIET };
    expect(await assess(g.repo, options)).toMatchObject({ verdict: 'clean', git_processes: 4 });
    expect(await assess(g.repo, { ...options, git: runner })).toMatchObject({ verdict: 'unknown' });
    expect(asked).toContain('cat-file');
  });

  test('leaves what it was to prove as landed unpushed', async () => {
    using t = await session();
    commit(t.tree, 'work');
    commit(t.repo, 'other');
    git(t.repo, 'merge', '-q', '--squash', 's');
    git(t.repo, 'commit', '-qm', 'squashed');
    git(t.repo, 'push', '-q', 'origin', 'main');
    git(t.tree, 'fetch', '-q');
    expect(await t.assess()).toMatchObject({ verdict: 'clean', git_processes: 5 });
    for (const name of names) {
      const proof = await withFaults(t.tree, FAULTS[name]?.(other) as GitRunner, { ...t.options, from: 3 });
      expect(proof).toEqual([
        ['rev-list', 'unpushed'],
        ['diff-tree', 'unpushed'],
      ]);
    }
  });
});
