import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hardenedGit, type RunResult } from '@jackin/core';
import type { GitRunner } from '@jackin/isolation';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Plan, REMOVING_OPS } from '../../src/index.ts';
import { type Lab, loaded, loadRequest, openLab } from './support.ts';

jest.setTimeout(240_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

const NOTHING: RunResult = {
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  exitCode: 0,
  signal: null,
  timedOut: false,
  notFound: false,
  truncated: false,
  failure: null,
};

/** Every way a git process can let somebody down. */
const FAULTS: Record<string, (result: RunResult) => RunResult> = {
  'a non-zero exit': () => ({ ...NOTHING, exitCode: 128, stderr: Buffer.from('fatal: injected') }),
  'a signal': () => ({ ...NOTHING, exitCode: null, signal: 'SIGKILL' }),
  'a timeout': () => ({ ...NOTHING, exitCode: null, signal: 'SIGTERM', timedOut: true }),
  garbage: () => ({ ...NOTHING, stdout: Buffer.from([0, 255, 10, 0, 1, 7, 10]) }),
  'nothing at all': () => NOTHING,
  'half of the answer': (result) => ({
    ...result,
    stdout: result.stdout.subarray(0, result.stdout.length >> 1),
    truncated: true,
  }),
};

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.test', ...args], {
    cwd,
    stdio: 'pipe',
  });

/** An ended session in a worktree whose tree is clean, or holds one file. */
async function endedSession(dirty: boolean): Promise<string> {
  writeFileSync(join(lab.project, 'a'), 'one');
  git(lab.project, 'init', '-q', '-b', 'main');
  git(lab.project, 'add', '.');
  git(lab.project, 'commit', '-q', '-m', 'first');
  const request = loadRequest({
    mountIsolation: [`${lab.project}=worktree`],
    command: ['sh', '-c', dirty ? 'echo two > b' : 'true'],
  });
  const { instance_id: id } = loaded(await lab.jackin().load(request));
  await lab.jackin().stop({ instance: id, policy: 'keep', dryRun: false });
  return id;
}

async function planOf(id: string, runner: GitRunner): Promise<Plan> {
  const made = await lab
    .jackin({ git: runner })
    .purge({ instance: id, yes: true, force: false, dryRun: true });
  if (made.kind !== 'plan') throw new Error('a dry run makes a plan');
  return made.document.plan;
}

describe('a git that fails', () => {
  test('never makes a tree look clean, whatever call it is and however it fails', async () => {
    const id = await endedSession(false);
    const names: string[] = [];
    const verdictOf = async (runner: GitRunner): Promise<string> => {
      const { document } = (await lab
        .jackin({ git: runner })
        .status({ instance: id, detail: true, sizes: false })) as {
        document: { instances: { isolated: { verdict: string; reason: string }[] }[] };
      };
      return document.instances[0]?.isolated[0]?.verdict ?? 'none';
    };
    expect(
      await verdictOf(async (args, options) => {
        names.push(args[0] ?? '');
        return hardenedGit(args, options);
      }),
    ).toBe('clean');
    expect(names.length).toBeGreaterThan(3);
    const assessing = names.filter((name) => ['config', 'ls-files', 'status', 'rev-list'].includes(name));
    for (const name of new Set(assessing)) {
      for (const [what, fault] of Object.entries(FAULTS)) {
        const verdict = await verdictOf(async (args, options) => {
          const result = await hardenedGit(args, options);
          return args[0] === name ? fault(result) : result;
        });
        expect([name, what, verdict]).toEqual([name, what, 'unknown']);
      }
    }
  });

  test('no exit removes anything then: the plan of a stop under clean keeps', async () => {
    const id = await endedSession(true);
    await lab.jackin().resume({
      instance: id,
      policy: null,
      detach: true,
      acceptLoss: false,
      allowDrift: false,
      dryRun: false,
    });
    for (const [what, fault] of Object.entries(FAULTS)) {
      const runner: GitRunner = async (args, options) => fault(await hardenedGit(args, options));
      const stopped = await lab.jackin({ git: runner }).stop({ instance: id, policy: 'clean', dryRun: true });
      if (stopped.kind !== 'plan') throw new Error('a dry run makes a plan');
      const removing = stopped.document.plan.steps.map(({ op }) => op).filter((op) => REMOVING_OPS.has(op));
      // What runs is freed by a keep too; state and trees are not.
      expect([what, removing.filter((op) => op !== 'remove_container')]).toEqual([what, []]);
    }
  });

  test('a purge plans with what it could see, and only with the name typed', async () => {
    const id = await endedSession(false);
    const broken: GitRunner = async () => FAULTS.garbage?.(NOTHING) ?? NOTHING;
    const plan = await planOf(id, broken);
    const removal = plan.steps.find(({ op }) => op === 'remove_isolated_trees');
    expect(removal?.removes).toEqual([expect.stringContaining('(unknown)')]);
    await expect(
      lab.jackin({ git: broken }).purge({ instance: id, yes: true, force: true, dryRun: false }),
    ).rejects.toMatchObject({ code: 'WORK_UNKNOWN' });
  });
});
