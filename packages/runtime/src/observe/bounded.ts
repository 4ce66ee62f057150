import { afterAwake, JackinError } from '@jackin/core';

/**
 * Runs one outside call with a bound of `timeoutMs`. The call gets a signal, and is left behind when it ignores it:
 * a hang of an engine never becomes ours (docs/architecture.md). Throws OUTSIDE_CALL_TIMEOUT naming the call, or the
 * outer signal's reason.
 */
export async function bounded<T>(
  what: string,
  timeoutMs: number,
  outer: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const expired = new JackinError({
    code: 'OUTSIDE_CALL_TIMEOUT',
    message: `${what} did not finish within ${timeoutMs} ms`,
    hint: 'Run `jackin doctor` to see what answers, then run the same command again.',
  });
  const cancel = afterAwake(timeoutMs, () => controller.abort(expired));
  const onOuter = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) onOuter();
  else outer?.addEventListener('abort', onOuter, { once: true });
  try {
    return await raceAbort(call(controller.signal), controller.signal, expired);
  } finally {
    cancel();
    outer?.removeEventListener('abort', onOuter);
  }
}

async function raceAbort<T>(call: Promise<T>, signal: AbortSignal, expired: JackinError): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  try {
    return await Promise.race([call, aborted]);
  } catch (error) {
    // A call that honours the signal may reject with its own AbortError first: the bound is still the cause.
    throw signal.aborted && signal.reason === expired ? expired : error;
  }
}
