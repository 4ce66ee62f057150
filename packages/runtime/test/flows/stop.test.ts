import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ended, killAll, type Lab, loaded, loadRequest, openLab, quiet, statusOf, until } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

describe('stop', () => {
  test('ends the agent with our own request and follows the policy', async () => {
    const { instance_id: id } = loaded(await lab.jackin().load(loadRequest()));
    const end = ended(await lab.jackin().stop({ instance: id, policy: 'keep', dryRun: false }));
    expect(end).toMatchObject({
      outcome: 'kept',
      cause: 'jackin_stop',
      status: 'restore_available',
      exitCode: 0,
    });
    expect(await killable(id)).toEqual([]);
  });

  test('finishes a session that ended while nobody was there', async () => {
    const { instance_id: id } = loaded(await lab.jackin().load(loadRequest({ command: ['true'] })));
    await until(async () => (await statusOf(lab, id)).exit_pending);
    const end = ended(await lab.jackin().stop({ instance: id, policy: null, dryRun: false }));
    expect(end).toMatchObject({ outcome: 'cleaned', exitCode: 0, agent_exit: { code: 0 } });
    expect(await lab.traces(id)).toEqual([]);
  });

  test('of a crashed instance keeps it, whatever the flag, and exits 4', async () => {
    const { instance_id: id } = loaded(await lab.jackin().load(loadRequest()));
    await killAll(id);
    const end = ended(await lab.jackin().stop({ instance: id, policy: 'clean', dryRun: false }));
    expect(end).toMatchObject({ outcome: 'kept', status: 'crashed', exitCode: 4 });
  });

  test('deletes a decision file of an older jackin, which decides nothing', async () => {
    const { instance_id: id, container_base: base } = loaded(await lab.jackin().load(loadRequest()));
    const file = join(lab.paths.instance(base).state, 'exit-action.json');
    await writeFile(file, '{"action":"discard"}');
    const end = ended(await lab.jackin().stop({ instance: id, policy: 'keep', dryRun: false }));
    expect(end.outcome).toBe('kept');
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  const killable = async (id: string) =>
    (await lab.traces(id)).filter((trace) => trace.startsWith('process'));
});

test('a kept session comes back with its home, and only live processes are lost', async () => {
  const command = ['sh', '-c', 'echo remembered >> "$HOME/note"; exec sleep 600'];
  const { instance_id: id, container_base: base } = loaded(await lab.jackin().load(loadRequest({ command })));
  const note = join(lab.paths.instance(base).home, 'note');
  await until(async () => (await readFile(note, 'utf8').catch(() => '')) === 'remembered\n');
  await killAll(id);
  const back = await lab.jackin().resume({ instance: id, policy: null, detach: true, ...quiet });
  expect(back).toMatchObject({
    kind: 'resume',
    document: { tier: 1, status: 'running', cause: 'capsule_crash', did_not_return: ['live_processes'] },
  });
  await until(async () => (await readFile(note, 'utf8')) === 'remembered\nremembered\n');
});
