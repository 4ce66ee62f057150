import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expectEqual, expectThat } from './check.ts';
import type { Jackin } from './command.ts';
import type { Ground } from './ground.ts';
import { chapter, held } from './say.ts';
import type { Scratch } from './scratch.ts';

const DRAFT = 'draft.txt';
const WRITTEN_MS = 20_000;

export interface WorktreeTour {
  jackin: Jackin;
  scratch: Scratch;
  ground: Ground;
}

interface Loaded {
  instance_id: string;
  container_base: string;
}

interface Detail {
  instances: {
    status: string;
    isolated: { verdict: string; evidence: { files: { path: string }[] } | null }[];
  }[];
}

/** A session in a worktree: what it leaves unfinished is kept and named, and nothing of it stays after a purge. */
export async function tourWorktree({ jackin, scratch, ground }: WorktreeTour): Promise<void> {
  chapter('Work in a worktree: the agent gets a branch and files of its own');
  const { project } = scratch;
  const session = ['--agent', 'shell', '--new', '--detach', '--backend', ground.backend];
  // The project has the note of the first session, which is in no commit.
  const isolation = ['--mount-isolation', `${project}=worktree`, '--force'];
  const loaded = await jackin.tryJson<Loaded>(
    ['load', 'shell', project, ...session, ...isolation, '--', 'sh', '-c', `echo draft > ${DRAFT}`],
    ground.loadLimitMs,
  );
  if ('error' in loaded)
    throw new Error(`"jackin load" failed with ${loaded.error.code}: ${loaded.error.message}`);
  const { instance_id: id, container_base: base } = loaded.data;
  const tree = join(scratch.state, 'data', base, 'git/worktree/repo', realpathSync(project), base);
  await until(() => existsSync(join(tree, DRAFT)), `${DRAFT} should be in the worktree`);
  expectThat(!existsSync(join(project, DRAFT)), `${DRAFT} should not be in the project`);
  held('what the agent writes is in its worktree, and the project does not see it');

  chapter('It ends with work that is nowhere else, and nobody to ask');
  await jackin.show(['stop', id], [4]);
  const { instances } = await jackin.ask<Detail>(['status', id, '--detail']);
  expectEqual('status', instances[0]?.status, 'preserved_dirty');
  const mount = instances[0]?.isolated[0];
  expectEqual(
    'what is uncommitted',
    mount?.evidence?.files.map(({ path }) => path),
    [DRAFT],
  );
  expectThat(existsSync(join(tree, DRAFT)), `${DRAFT} should be kept`);
  held('the file is named and kept');

  chapter('Give it up');
  const { stdout } = await jackin.show(['purge', id, '--force']);
  expectThat(stdout.includes(DRAFT), `the receipt should name ${DRAFT}`);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: project, env: scratch.env, encoding: 'utf8' });
  expectEqual('branches of sessions', git('branch', '--list', 'jackin/*'), '');
  expectEqual('worktrees', git('worktree', 'list').trim().split('\n').length, 1);
  expectEqual('what the backend has of it', await ground.remains(base), []);
  expectThat(!existsSync(tree), 'the worktree should be gone');
  held('tree, branch and registration are gone; the project and its repository are as they were');
}

async function until(happened: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + WRITTEN_MS;
  while (!happened()) {
    expectThat(performance.now() < deadline, what);
    await wait(50);
  }
}
