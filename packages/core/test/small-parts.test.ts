import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  combineSinks,
  createJournal,
  errorDocument,
  JackinError,
  type JackinEvent,
  newInstanceId,
  newNonce,
  newSessionId,
  registerSecret,
  successDocument,
  systemClock,
} from '../src/index.ts';
import { failureOf, fixturePath, scratchDir } from './helpers.ts';

const readLines = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

describe('ids', () => {
  test('an instance id has 8 characters of the alphabet without i, l, o and u, and all of them occur', () => {
    const ids = Array.from({ length: 2_000 }, newInstanceId);
    for (const id of ids) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{8}$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.join('')).size).toBe(32);
  });

  test('a session id cannot be taken for an instance id, and a nonce has 128 bits', () => {
    expect(newSessionId()).toMatch(/^s[0-9a-z]{9}$/);
    expect(newNonce()).toMatch(/^[0-9a-f]{32}$/);
    expect(newNonce()).not.toBe(newNonce());
  });
});

describe('systemClock', () => {
  test('sleep ends with the reason of its signal, at once when that is already aborted', async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleep(60_000, controller.signal);
    const reason = new JackinError({ code: 'STOP', message: 'stop' });
    controller.abort(reason);
    expect(await failureOf(sleeping)).toBe(reason);
    expect(await failureOf(systemClock.sleep(60_000, controller.signal))).toBe(reason);
  });

  test('monotonic time does not go back while sleeping', async () => {
    const before = systemClock.monotonicMs();
    await systemClock.sleep(5);
    expect(systemClock.monotonicMs() - before).toBeGreaterThanOrEqual(4);
  });
});

describe('documents', () => {
  test('success and failure have the same version and exactly one member each', () => {
    expect(successDocument({ a: 1 })).toEqual({ schema_version: 'v1', data: { a: 1 } });
    const error = new JackinError({ code: 'X', message: 'm', details: { n: 1 } });
    expect(JSON.parse(JSON.stringify(errorDocument(error)))).toEqual({
      schema_version: 'v1',
      error: { code: 'X', message: 'm', hint: null, details: { n: 1 } },
    });
    expect(errorDocument(new Error('boom')).error.code).toBe('INTERNAL');
  });
});

describe('journal', () => {
  test('each event is one line with time and pid, the file is private, and secrets are masked', () => {
    const file = join(scratchDir(), 'journal.ndjson');
    registerSecret('journal-canary-123');
    const journal = createJournal(file);
    journal({ type: 'debug', message: 'two\nlines', fields: { token: 'journal-canary-123' } });
    expect(readLines(file)).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        pid: process.pid,
        type: 'debug',
        message: 'two\nlines',
        fields: { token: '[redacted]' },
      },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('every line written before a SIGKILL is there, and a second writer appends', () => {
    const file = join(scratchDir(), 'journal.ndjson');
    for (let run = 1; run <= 2; run += 1) {
      const { signal, stderr } = spawnSync(process.execPath, [fixturePath('journal-writer.ts'), file, '300']);
      expect({ signal, stderr: String(stderr) }).toEqual({ signal: 'SIGKILL', stderr: '' });
      expect(readLines(file)).toHaveLength(300 * run);
      expect(readLines(file).at(-1).message).toBe('line 300');
    }
  });

  test('a journal that cannot be opened is an error naming the file', () => {
    const file = join(scratchDir(), 'missing', 'journal.ndjson');
    expect(() => createJournal(file)).toThrow(
      expect.objectContaining({ code: 'STATE_NOT_WRITABLE', message: expect.stringContaining(file) }),
    );
  });

  test('combined sinks get every event in order', () => {
    const seen: string[] = [];
    const sink = combineSinks(
      () => void seen.push('first'),
      (event: JackinEvent) => void seen.push(event.type),
    );
    sink({ type: 'debug', message: 'x' });
    expect(seen).toEqual(['first', 'debug']);
  });
});
