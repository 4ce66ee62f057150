import type { Readable } from 'node:stream';
import { afterAwake } from '@jackin/core';
import type Docker from 'dockerode';
import { withSignal } from './engine.ts';
import { createFrameReader } from './frames.ts';

const TAIL_BYTES = 4_096;

export type Outcome = { state: 'seen' } | { state: 'ended' } | { state: 'silent' };

/** A container's output from now on, also of one that is not started yet. */
export async function attachOutput(docker: Docker, id: string, signal: AbortSignal): Promise<Readable> {
  const options = withSignal(signal, { stream: true, stdout: true, stderr: true });
  return (await docker.getContainer(id).attach(options)) as unknown as Readable;
}

/**
 * Watches a container's output for a line; null: only for its end. `seen`: it came; `ended`: the output ended before; `silent`: neither within
 * `timeoutMs`. Rejects with the signal's reason. `tail` is what was said last, as untrusted text.
 */
export function watchOutput(
  output: Readable,
  line: string | null,
): { outcome(timeoutMs: number, signal: AbortSignal): Promise<Outcome>; tail(): string } {
  let tail = Buffer.alloc(0);
  const found = Promise.withResolvers<Outcome>();
  const read = createFrameReader(
    (_stream, bytes) => {
      tail = Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES);
      if (line === null) return;
      if (tail.toString('utf8').split('\n').slice(0, -1).includes(line)) found.resolve({ state: 'seen' });
    },
    () => found.resolve({ state: 'ended' }),
  );
  output.on('data', read);
  for (const event of ['end', 'error', 'close']) output.on(event, () => found.resolve({ state: 'ended' }));
  return {
    tail: () => tail.toString('utf8'),
    async outcome(timeoutMs, signal) {
      const cancel = afterAwake(timeoutMs, () => found.resolve({ state: 'silent' }));
      const onAbort = (): void => found.reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      try {
        return await found.promise;
      } finally {
        cancel();
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}
