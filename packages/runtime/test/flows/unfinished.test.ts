import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { EndView, UnfinishedView } from '../../src/index.ts';
import { ended, type Lab, loaded, loadRequest, openLab, quiet, statusOf, type } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

describe('unfinished work in an isolated mount', () => {
  /** A record nobody can assess yet counts as unfinished work. */
  async function withWorktree(base: string): Promise<void> {
    const record = {
      workspace: 'w',
      mount_dst: '/workspace/app',
      original_src: lab.project,
      isolation: 'worktree',
      worktree_path: join(lab.paths.instance(base).dir, 'git/worktree/repo/workspace/app', base),
      scratch_branch: `jackin/scratch/${base}`,
      base_commit: '0'.repeat(40),
      selector_key: 'w',
      container_name: base,
      cleanup_status: 'active',
    };
    await writeFile(lab.paths.instance(base).isolation, JSON.stringify({ version: 1, records: [record] }));
  }

  const ending = (answer: 'return' | 'keep' | 'clean' | 'abort', shown: (UnfinishedView | EndView)[] = []) =>
    lab.jackin({
      attached: type('exit'),
      prompts: {
        available: true,
        acknowledgeUnfinished: async (view) => {
          shown.push(view);
          return 'continue';
        },
        chooseEnd: async (view) => {
          shown.push(view);
          return answer;
        },
      },
    });

  async function startWithWorktree(): Promise<string> {
    const { instance_id: id, container_base: base } = loaded(await lab.jackin().load(loadRequest()));
    await withWorktree(base);
    return id;
  }

  test("is shown before the end is chosen, and keeping it is the operator's decision", async () => {
    const id = await startWithWorktree();
    const shown: (UnfinishedView | EndView)[] = [];
    const end = ended(await ending('keep', shown).hardline({ instance: id, mode: 'attach', policy: null }));
    expect(shown).toMatchObject([
      { mounts: [{ mount_dst: '/workspace/app' }] },
      { headline: expect.any(String) },
    ]);
    expect(end).toMatchObject({ outcome: 'kept', status: 'preserved_dirty', exitCode: 0 });
  });

  test('"return to agent" starts a new process in the same instance and asks again at its end', async () => {
    const id = await startWithWorktree();
    const answers = ['return', 'keep'] as const;
    const starts = () =>
      lab.events.filter(
        (event) => event.type === 'step' && event.op === 'start_session' && event.state === 'done',
      );
    const before = starts().length;
    let asked = 0;
    const jackin = lab.jackin({
      attached: type('exit'),
      prompts: {
        available: true,
        acknowledgeUnfinished: async () => 'continue',
        chooseEnd: async () => answers[asked++] ?? 'abort',
      },
    });
    const end = ended(await jackin.hardline({ instance: id, mode: 'attach', policy: null }));
    expect(asked).toBe(2);
    expect(starts().length).toBe(before + 1);
    expect(end).toMatchObject({ instance_id: id, outcome: 'kept' });
    expect((await lab.manifest(end.container_base)).sessions).toHaveLength(2);
  });

  test('an aborted question decides nothing: the exit stays pending and the exit code is 0', async () => {
    const id = await startWithWorktree();
    const end = ended(await ending('abort').hardline({ instance: id, mode: 'attach', policy: null }));
    expect(end).toMatchObject({ outcome: 'aborted', status: 'clean_exited', exitCode: 0 });
    expect(await statusOf(lab, id)).toMatchObject({ exit_pending: true, container: 'stopped' });
  });

  test('is kept by an answer to keep although the work is gone by then', async () => {
    const id = await startWithWorktree();
    const jackin = lab.jackin({
      attached: type('exit'),
      prompts: {
        available: true,
        acknowledgeUnfinished: async () => 'continue',
        chooseEnd: async ({ session }) => {
          await rm(lab.paths.instance(session.container_base).isolation);
          return 'keep';
        },
      },
    });
    const end = ended(await jackin.hardline({ instance: id, mode: 'attach', policy: null }));
    expect(end).toMatchObject({ outcome: 'kept', status: 'restore_available', exitCode: 0 });
  });

  test('that somebody resumes under the question is left running, whatever is answered', async () => {
    const id = await startWithWorktree();
    const jackin = lab.jackin({
      attached: type('exit'),
      prompts: {
        available: true,
        acknowledgeUnfinished: async () => 'continue',
        chooseEnd: async () => {
          await lab.jackin().resume({ instance: id, policy: null, detach: true, ...quiet });
          return 'abort';
        },
      },
    });
    const end = ended(await jackin.hardline({ instance: id, mode: 'attach', policy: null }));
    expect(end).toMatchObject({ outcome: 'running', status: 'running', exitCode: 0 });
    expect(await statusOf(lab, id)).toMatchObject({ status: 'running', cause: null, agent_alive: 'yes' });
  });

  test('is kept with exit code 4 when nobody can be asked, also under --clean', async () => {
    const id = await startWithWorktree();
    const end = ended(await lab.jackin().stop({ instance: id, policy: 'clean', dryRun: false }));
    expect(end).toMatchObject({ outcome: 'kept', status: 'preserved_dirty', exitCode: 4 });
    expect(end.kept).toContainEqual(expect.stringContaining('/workspace/app'));
  });

  test('is purged only when its name is typed', async () => {
    const id = await startWithWorktree();
    const request = { instance: id, yes: true, force: true, dryRun: false };
    await expect(lab.jackin().purge(request)).rejects.toMatchObject({ code: 'WORK_UNKNOWN', exitCode: 3 });
    const asked: unknown[] = [];
    const jackin = lab.jackin({
      prompts: {
        available: true,
        confirm: async (view) => {
          asked.push(view.mustType);
          return true;
        },
      },
    });
    expect(ended(await jackin.purge(request))).toMatchObject({ outcome: 'cleaned' });
    expect(asked).toEqual([id]);
  });
});
