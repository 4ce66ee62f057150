import { appendFileSync } from 'node:fs';
import { fileSystemError } from './file-errors.ts';
import type { EventSink } from './ports.ts';
import { redactDeep } from './redact.ts';

/**
 * Appends one NDJSON line `{at, pid, ...event}` per event to `file` (mode 0600), secrets redacted. Each line is
 * one append made before the call returns, so a SIGKILL right after it loses nothing, and several processes can
 * share the file.
 *
 * A failure to write later is dropped: diagnostics must not stop the work they describe.
 * @throws JackinError `STATE_NOT_WRITABLE` or `DISK_FULL` when the file cannot be opened for appending.
 */
export function createJournal(file: string): EventSink {
  try {
    append(file, '');
  } catch (error) {
    throw fileSystemError(error, file, 'write the event journal');
  }
  return (event) => {
    const line = redactDeep({ at: new Date().toISOString(), pid: process.pid, ...event });
    try {
      append(file, `${JSON.stringify(line)}\n`);
    } catch {
      // See above.
    }
  };
}

/** One sink that passes every event to each of `sinks`, in order. */
export function combineSinks(...sinks: EventSink[]): EventSink {
  return (event) => {
    for (const sink of sinks) sink(event);
  };
}

function append(file: string, text: string): void {
  appendFileSync(file, text, { flag: 'a', mode: 0o600 });
}
