const SLICES = 4;
const MAX_SLICE_MS = 1_000;
/** How late a timer may be in a process that runs. */
const LATE_MS = 100;

/**
 * Calls `action` when this process has had `ms` milliseconds to run; the result cancels it. Time in which it was
 * stopped (Ctrl-Z, SIGSTOP, a suspended machine) does not count, so that whatever arrived meanwhile is heard before
 * anybody is called late: the event loop runs timers before it looks at what has arrived.
 */
export function afterAwake(ms: number, action: () => void): () => void {
  const sliceMs = Math.min(MAX_SLICE_MS, ms / SLICES);
  let leftMs = ms;
  let timer: NodeJS.Timeout;
  const next = (): void => {
    const stepMs = Math.min(leftMs, sliceMs);
    const from = performance.now();
    timer = setTimeout(() => {
      const stoodStill = performance.now() - from > 2 * stepMs + LATE_MS;
      // Half of it, so that a starved process comes to an end too.
      leftMs -= stoodStill ? stepMs / 2 : stepMs;
      if (leftMs >= 1) next();
      else action();
    }, stepMs);
  };
  next();
  return () => clearTimeout(timer);
}

/** The same as a signal that aborts with `reason`. `clear` it when it is no longer needed. */
export function awakeSignal(ms: number, reason: unknown): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const clear = afterAwake(ms, () => controller.abort(reason));
  return { signal: controller.signal, clear };
}
