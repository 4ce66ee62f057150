import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { afterAwake, awakeSignal } from '../src/index.ts';
import { onCleanup } from './helpers.ts';

/** This process does not run for so long: stopped, suspended or starved, it is the same to its event loop. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A child that has something to say while we stand still. */
async function talker(): Promise<{ say(): void; said: Promise<string> }> {
  const child = spawn('sh', ['-c', 'read go; echo here'], { stdio: ['pipe', 'pipe', 'ignore'] });
  onCleanup(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const said = once(child.stdout, 'data').then(() => 'heard');
  return { said, say: () => void child.stdin.write('go\n') };
}

describe('the time a process has had to run', () => {
  test.each([0, 200, 380])(
    'does not run out while it is stopped %d ms after the start: what arrived meanwhile is heard first',
    async (ranMs) => {
      const { say, said } = await talker();
      const expired = new Promise<string>((resolve) => afterAwake(400, () => resolve('expired')));
      await new Promise((resolve) => setTimeout(resolve, ranMs));
      say();
      standStill(1_000);
      expect(await Promise.race([said, expired])).toBe('heard');
      expect(await expired).toBe('expired');
    },
  );

  test('runs out on time in a process that runs', async () => {
    const from = performance.now();
    await new Promise<void>((resolve) => afterAwake(300, resolve));
    expect(performance.now() - from).toBeGreaterThanOrEqual(299);
    expect(performance.now() - from).toBeLessThan(3_000);
  });

  test('is cancelled for good', async () => {
    let fired = false;
    const cancel = afterAwake(20, () => {
      fired = true;
    });
    cancel();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(fired).toBe(false);
  });

  test('as a signal aborts with the given reason, and not after it was let go', async () => {
    const reason = new Error('late');
    const limit = awakeSignal(20, reason);
    await once(limit.signal, 'abort');
    expect(limit.signal.reason).toBe(reason);
    const released = awakeSignal(20, reason);
    released.clear();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(released.signal.aborted).toBe(false);
  });
});
