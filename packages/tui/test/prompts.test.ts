import { describe, expect, jest, test } from '@jest/globals';
import { ask, CURSOR_HIDE, CURSOR_SHOW } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

const resumed = (id: string) => ({ choice: 'resume', instance_id: id });

describe('the choice between a new session and one that can be resumed', () => {
  test.each([
    ['a number', '2\r', resumed('k7p9m2xq')],
    ['Enter alone, which takes the first row', '\r', { choice: 'new' }],
    ['an unambiguous part of the id', 'fme\r', resumed('fme29j3j')],
    ['the row that finishes a pending exit', '3\r', { choice: 'finish', instance_id: 'k7p9m2xq' }],
    ['a second try after a number that is not there', '9\r2\r', resumed('k7p9m2xq')],
  ])('is made by %s', async (_how, keys, answer) => {
    const asked = await ask('session', { keys });
    expect(asked.answer).toEqual(answer);
    expect(asked.exitCode).toBe(0);
  });

  test('shows every candidate in full with its age, what happened and whether it is ready', async () => {
    const { output } = await ask('session', { keys: '\r' });
    expect(output).toContain('1. Start new session');
    expect(output).toContain('2. Resume  k7p9m2xq · 2h ago · interrupted by host loss · ready');
    expect(output).toContain('4. Resume  fme29j3j · 5h ago · kept, clean · ready');
  });
});

describe('no answer decides nothing', () => {
  const ways: [string, Parameters<typeof ask>[1]][] = [
    ['Ctrl-C', { keys: '\u0003' }],
    ['Ctrl-D', { keys: '\u0004' }],
    ['SIGINT from outside', { signal: 'SIGINT' }],
    ['SIGTERM from outside', { signal: 'SIGTERM' }],
  ];
  for (const term of ['xterm-256color', 'dumb']) {
    test.each(ways)(`%s on TERM=${term} is an abort, with the terminal as it was`, async (_name, act) => {
      const asked = await ask('session', act, { env: { TERM: term } });
      expect(asked.answer).toEqual({ choice: 'abort' });
      expect(asked.exitCode).toBe(0);
      expect(asked.settled).toEqual({ raw: false, listeners: 0 });
      expect(asked.output.lastIndexOf(CURSOR_HIDE)).toBeLessThanOrEqual(
        asked.output.lastIndexOf(CURSOR_SHOW),
      );
    });
  }

  test.each([
    ['end', 'abort'],
    ['unfinished', 'abort'],
    ['confirm', false],
    ['typed', false],
    ['instance', null],
  ])('Ctrl-C at "%s" answers %j', async (question, answer) => {
    expect((await ask(question, { keys: '\u0003' })).answer).toEqual(answer);
  });
});

describe('confirmations', () => {
  test.each([
    ['y\r', true],
    ['yes\r', true],
    ['\r', false],
    ['n\r', false],
    ['yikes\r', false],
  ])('%j answers %j', async (keys, answer) => {
    expect((await ask('confirm', { keys })).answer).toBe(answer);
  });

  test('work that could not be looked at goes only when the name is typed', async () => {
    expect((await ask('typed', { keys: 'y\r' })).answer).toBe(false);
    expect((await ask('typed', { keys: 'k7p9m2xq\r' })).answer).toBe(true);
  });
});

describe('what is shown', () => {
  test('the end of a session offers to return first', async () => {
    const asked = await ask('end', { keys: '\r' });
    expect(asked.answer).toBe('return');
    expect(asked.output).toContain('2. Exit and keep');
  });

  test('control characters of a file name do not reach the terminal', async () => {
    const { output } = await ask('unfinished', { keys: '\r' });
    expect(output).toContain('\\x1b[31mred.ts');
    expect(output).not.toContain('\u001b[31mred.ts');
  });

  test('NO_COLOR and TERM=dumb are respected', async () => {
    const plain = await ask('session', { keys: '2\r' }, { env: { NO_COLOR: '1' } });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for colour codes
    expect(plain.output).not.toMatch(/\u001b\[[0-9;]*m/);
    const dumb = await ask('session', { keys: '2\r' }, { env: { TERM: 'dumb', NO_COLOR: '1' } });
    expect(dumb.output).not.toContain('\u001b');
    expect(dumb.answer).toEqual(resumed('k7p9m2xq'));
  });
});
