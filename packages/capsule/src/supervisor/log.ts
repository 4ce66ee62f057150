import { redact } from '@jackin/core';

/** The capsule's own diagnostics: one line each on stderr, which may be closed, full or nobody's. */
export interface Log {
  (message: string): void;
  /** The first time only, until {@link Log.over} says that what it was about is over. */
  once(about: string, message: string): void;
  over(about: string): void;
}

export function createLog(stream: NodeJS.WritableStream = process.stderr): Log {
  const told = new Set<string>();
  // Without a listener, a reader that went away would end the capsule.
  stream.on('error', () => {});
  const log = (message: string): void => {
    stream.write(`${new Date().toISOString()} capsule: ${redact(message)}\n`);
  };
  return Object.assign(log, {
    once(about: string, message: string) {
      if (told.has(about)) return;
      told.add(about);
      log(message);
    },
    over: (about: string) => void told.delete(about),
  });
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
