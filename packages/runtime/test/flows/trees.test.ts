import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hardenedGit } from '@jackin/core';
import type { GitRunner } from '@jackin/isolation';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ConfirmView, EndView, PreservedView, UnfinishedView } from '../../src/index.ts';
import { ended, type Lab, loaded, loadRequest, openLab, quiet, statusOf, type } from './support.ts';

jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
  repository(lab.project);
});
afterEach(() => lab.dispose());

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.test', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function repository(path: string): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'a'), 'one');
  git(path, 'init', '-q', '-b', 'main');
  git(path, 'add', '.');
  git(path, 'commit', '-q', '-m', 'first');
}

/** A session that has ended, kept, with the path of its tree. */
async function kept(command: string, change: Parameters<typeof loadRequest>[0] = {}) {
  const request = loadRequest({
    mountIsolation: [`${lab.project}=worktree`],
    command: ['sh', '-c', command],
    ...change,
  });
  const { instance_id: id, container_base: base } = loaded(await lab.jackin().load(request));
  await lab.jackin().stop({ instance: id, policy: 'keep', dryRun: false });
  const { isolated } = await detail(id);
  return { id, base, tree: isolated[0]?.path ?? '' };
}

async function detail(id: string) {
  const { document } = await lab.jackin().status({ instance: id, detail: true, sizes: false });
  const [instance] = (
    document as { instances: { status: string; isolated: { path: string; mount_dst: string }[] }[] }
  ).instances;
  if (instance === undefined) throw new Error(`${id} is not listed`);
  return instance;
}

/** Runs again and ends by itself, so that its exit is open. */
async function endedAgain(id: string): Promise<void> {
  await lab.jackin().resume({ instance: id, policy: null, detach: true, ...quiet });
}

const purge = (id: string) => ({ instance: id, yes: true, force: true, dryRun: false });

describe('a tree that cannot be removed', () => {
  test('becomes a keep, is named with the reason, and goes when that is gone', async () => {
    const { id, tree } = await kept('true');
    git(lab.project, 'worktree', 'unlock', tree);
    git(lab.project, 'worktree', 'lock', '--reason', 'mine', tree);
    await endedAgain(id);
    const end = ended(await lab.jackin().stop({ instance: id, policy: 'clean', dryRun: false }));
    expect(end).toMatchObject({ outcome: 'kept', status: 'restore_available', exitCode: 4 });
    expect(end.evidence.join('\n')).toContain('is locked by somebody else (mine)');
    expect(existsSync(tree)).toBe(true);
    await expect(lab.jackin().purge(purge(id))).rejects.toMatchObject({ code: 'TREE_LOCKED' });
    expect(await statusOf(lab, id)).toMatchObject({ status: 'restore_available' });
    git(lab.project, 'worktree', 'unlock', tree);
    expect(ended(await lab.jackin().purge(purge(id)))).toMatchObject({ outcome: 'cleaned' });
    expect(await lab.traces(id)).toEqual([]);
  });

  test('does not keep the others, whose records go with them', async () => {
    const other = join(lab.root, 'other');
    repository(other);
    const { id, tree } = await kept('true', {
      mounts: [`${other}:/workspace/other`],
      mountIsolation: [`${lab.project}=worktree`, '/workspace/other=clone'],
    });
    const clone =
      (await detail(id)).isolated.find(({ mount_dst }) => mount_dst === '/workspace/other')?.path ?? '';
    git(lab.project, 'worktree', 'unlock', tree);
    git(lab.project, 'worktree', 'lock', '--reason', 'mine', tree);
    await expect(lab.jackin().purge(purge(id))).rejects.toMatchObject({ code: 'TREE_LOCKED' });
    expect([existsSync(tree), existsSync(clone)]).toEqual([true, false]);
    expect((await detail(id)).isolated).toMatchObject([{ mount_dst: lab.project, verdict: 'clean' }]);
  });
});

test('a launch whose second tree cannot be made takes the first one back', async () => {
  const other = join(lab.root, 'other');
  repository(other);
  const failing: GitRunner = async (args, options) => {
    const result = await hardenedGit(args, options);
    const fails = args[0] === 'worktree' && args[1] === 'add' && options.gitDir.startsWith(other);
    return fails ? { ...result, exitCode: 128, stderr: Buffer.from('fatal: injected') } : result;
  };
  const request = loadRequest({
    mounts: [`${other}:/workspace/other`],
    mountIsolation: [`${lab.project}=worktree`, '/workspace/other=worktree'],
    command: ['true'],
  });
  await expect(lab.jackin({ git: failing }).load(request)).rejects.toMatchObject({
    code: 'MATERIALISE_FAILED',
  });
  for (const path of [lab.project, other]) {
    expect(git(path, 'branch', '--list', 'jackin/*')).toBe('');
    expect(git(path, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  }
  const { document } = await lab.jackin().status({ instance: null, detail: false, sizes: false });
  expect(document).toMatchObject({ instances: [], notices: [] });
});

describe('what is shown before a decision', () => {
  test('a purge removes what was shown: work that came under the question stops it', async () => {
    const { id, tree } = await kept('echo draft > draft');
    const shown: ConfirmView[] = [];
    const jackin = lab.jackin({
      prompts: {
        available: true,
        confirm: async (view) => {
          shown.push(view);
          writeFileSync(join(tree, 'later'), 'more');
          return true;
        },
      },
    });
    const asked = { ...purge(id), yes: false, force: false };
    await expect(jackin.purge(asked)).rejects.toMatchObject({ code: 'STATE_CHANGED' });
    expect(shown[0]?.warnings.join('\n')).toContain('?? draft');
    expect(existsSync(join(tree, 'later'))).toBe(true);
    expect(await statusOf(lab, id)).toMatchObject({ status: 'preserved_dirty' });
  });

  test('the exit names every file, and asks again when there is more by then', async () => {
    const { id, tree } = await kept('test -e draft || echo draft > draft; sleep 1000');
    await endedAgain(id);
    const shown: (UnfinishedView | EndView)[] = [];
    const jackin = lab.jackin({
      attached: type('exit'),
      prompts: {
        available: true,
        acknowledgeUnfinished: async (view) => {
          shown.push(view);
          return 'continue';
        },
        chooseEnd: async () => {
          if (shown.length === 1) writeFileSync(join(tree, 'later'), 'more');
          return 'clean';
        },
      },
    });
    const end = ended(await jackin.stop({ instance: id, policy: null, dryRun: false }));
    expect(shown.map((view) => ('mounts' in view ? view.mounts[0]?.lines : []))).toEqual([
      ['uncommitted   1 file', '  ?? draft'],
      ['uncommitted   2 files', '  ?? draft', '  ?? later'],
    ]);
    expect(end).toMatchObject({ outcome: 'cleaned' });
    expect(existsSync(tree)).toBe(false);
  });

  test('a resume shows what it goes on with, and going back changes nothing', async () => {
    const { id, tree } = await kept('test -e draft || echo draft > draft');
    git(lab.project, 'commit', '-q', '--allow-empty', '-m', 'later');
    const shown: PreservedView[] = [];
    const answer = (what: 'resume' | 'back') =>
      lab.jackin({
        prompts: {
          available: true,
          verifyPreserved: async (view) => {
            shown.push(view);
            return what;
          },
        },
      });
    const request = { instance: id, policy: null, detach: true, ...quiet };
    await expect(answer('back').resume(request)).rejects.toMatchObject({ code: 'RESTORE_DECLINED' });
    expect(shown[0]).toMatchObject({
      mounts: [{ verdict: 'dirty', lines: ['uncommitted   1 file', '  ?? draft'] }],
      notes: [expect.stringContaining('has 1 new commit since')],
    });
    expect(await statusOf(lab, id)).toMatchObject({ status: 'preserved_dirty' });
    expect(await answer('resume').resume(request)).toMatchObject({ document: { tier: 1 } });
    expect(existsSync(join(tree, 'draft'))).toBe(true);
  });
});
