import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commandOf } from '../src/supervisor/command.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'jk-command-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('what a session plan asks to run', () => {
  test('is found on the PATH of the plan', () => {
    const file = program('agent', '#!/bin/sh\n');
    expect(commandFor('agent')).toMatchObject({ file, args: ['--flag'], cwd: directory });
  });

  test.each([
    ['is not there', null],
    ['is a script whose interpreter is gone', '#!/nonexistent/python3 -s\n'],
    ['is a script of a script whose interpreter is gone', 'nested'],
  ])('is refused by name when it %s', (_what, text) => {
    if (text === 'nested') {
      const inner = program('inner', '#!/nonexistent/sh\n');
      program('agent', `#! ${inner}\n`);
    } else if (text !== null) program('agent', text);
    expect(() => commandFor('agent')).toThrow(
      expect.objectContaining({ code: 'COMMAND_NOT_FOUND', details: { program: 'agent', agent: 'mine' } }),
    );
  });

  test('may be a script without a first line of its own, or one that names itself', () => {
    program('agent', 'exit 0\n');
    expect(commandFor('agent').file).toBe(join(directory, 'agent'));
    program('agent', `#!${join(directory, 'agent')}\n`);
    expect(() => commandFor('agent')).toThrow(expect.objectContaining({ code: 'COMMAND_NOT_FOUND' }));
  });
});

function program(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

function commandFor(name: string) {
  return commandOf(
    {
      session_id: 's1',
      name: 'mine',
      agent: 'mine',
      argv: [name, '--flag'],
      cwd: directory,
      env: { PATH: directory },
      cols: 80,
      rows: 24,
    },
    'k7p9m2xq',
  );
}
