import { describe, expect, it } from '@jest/globals';
import { bounded } from '../../src/observe/bounded.ts';

const never = (): Promise<never> => new Promise(() => {});

describe('the bound of an outside call', () => {
  it('hands the answer through', async () => {
    await expect(bounded('It', 1_000, undefined, async () => 7)).resolves.toBe(7);
  });

  it('leaves a call behind that ignores its signal', async () => {
    await expect(bounded('The engine', 20, undefined, never)).rejects.toMatchObject({
      code: 'OUTSIDE_CALL_TIMEOUT',
      message: 'The engine did not finish within 20 ms',
    });
  });

  it('names the bound also when the call answers its signal with an error of its own', async () => {
    const call = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('AbortError'))));
    await expect(bounded('The engine', 20, undefined, call)).rejects.toMatchObject({
      code: 'OUTSIDE_CALL_TIMEOUT',
    });
  });

  it('is not run out of by a process that was stopped while the answer came', async () => {
    const answer = (): Promise<string> => new Promise((resolve) => setTimeout(resolve, 150, 'here'));
    const running = bounded('The capsule', 100, undefined, answer);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    await expect(running).resolves.toBe('here');
  });

  it("keeps the call's own error", async () => {
    const error = new Error('no such network');
    await expect(bounded('It', 1_000, undefined, () => Promise.reject(error))).rejects.toBe(error);
  });

  it('ends with the reason of the outer signal, before and during the call', async () => {
    const reason = new Error('operator went away');
    await expect(bounded('It', 1_000, AbortSignal.abort(reason), never)).rejects.toBe(reason);
    const outer = new AbortController();
    const running = bounded('It', 1_000, outer.signal, never);
    outer.abort(reason);
    await expect(running).rejects.toBe(reason);
  });
});
