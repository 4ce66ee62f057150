import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ended, killAll, type Lab, loaded, loadRequest, openLab, until } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

const HOLDER = fileURLToPath(new URL('../observe/hold-lock.ts', import.meta.url));

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

test('purge waits for another jackin that is just at work on the instance, then removes it', async () => {
  const { instance_id: id, container_base: base } = loaded(await lab.jackin().load(loadRequest()));
  await killAll(id);
  const { lock } = lab.paths.instance(base);
  const other = spawn(process.execPath, ['--conditions=@jackin/source', HOLDER, lock, lab.paths.locksDb], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(other.stdout, 'data');
    const purging = lab.jackin().purge({ instance: id, yes: true, force: false, dryRun: false });
    const waits = () => lab.events.some((event) => event.type === 'lock' && event.state === 'waiting');
    await Promise.race([until(async () => waits()), purging]);
    other.kill('SIGKILL');
    expect(ended(await purging)).toMatchObject({ container_base: base, outcome: 'cleaned' });
    expect(await lab.traces(id)).toEqual([]);
  } finally {
    other.kill('SIGKILL');
  }
});
