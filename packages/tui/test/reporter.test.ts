import type { JackinEvent } from '@jackin/core';
import { describe, expect, test } from '@jest/globals';
import { createReporter } from '../src/index.ts';

function told(event: JackinEvent, options: { debug?: boolean; progress?: boolean } = {}): string {
  let text = '';
  const report = createReporter({
    write: (part) => {
      text += part;
    },
    color: false,
    debug: options.debug ?? false,
    progress: options.progress ?? true,
  });
  report(event);
  return text;
}

const owner = { pid: 42, start_time: '1', boot_id: 'b', host: 'h', since: 's', purpose: 'resume' };

describe('the reporter', () => {
  test('prints one line for a finished stage and none for its start', () => {
    expect(told({ type: 'stage', stage: 'capsule', state: 'started' })).toBe('');
    expect(told({ type: 'stage', stage: 'capsule', state: 'done', elapsed_ms: 240 })).toBe(
      '  done capsule (240 ms)\n',
    );
    expect(told({ type: 'stage', stage: 'agent', state: 'failed', detail: 'not found' })).toBe(
      '  failed agent: not found\n',
    );
  });

  test('leaves progress out when a script reads the result', () => {
    const event: JackinEvent = { type: 'stage', stage: 'capsule', state: 'done', elapsed_ms: 1 };
    expect(told(event, { progress: false })).toBe('');
  });

  test('always prints notices', () => {
    const event: JackinEvent = {
      type: 'notice',
      level: 'warn',
      code: 'INDEX_CORRUPT',
      message: 'it is broken',
    };
    expect(told(event, { progress: false })).toBe('warning: it is broken\n');
  });

  test('says who is waited for and whose lock was taken over', () => {
    const lock = { type: 'lock' as const, path: '/x.lock', purpose: 'load', owner };
    expect(told({ ...lock, state: 'waiting' })).toBe(
      'waiting for another jackin (held by process 42: resume)\n',
    );
    expect(told({ ...lock, state: 'taken_over' })).toContain('took over the lock of a process that is gone');
    expect(told({ ...lock, state: 'acquired' })).toBe('');
  });

  test('tells steps, plans and debug events only with --debug', () => {
    const step: JackinEvent = {
      type: 'step',
      plan_id: 'p',
      step_id: '01',
      op: 'start_session',
      state: 'done',
    };
    const debug: JackinEvent = { type: 'debug', message: 'asked', fields: { ms: 3 } };
    expect(told(step) + told(debug)).toBe('');
    expect(told(step, { debug: true })).toBe('debug: step start_session done\n');
    expect(told(debug, { debug: true })).toBe('debug: asked {"ms":3}\n');
  });
});
