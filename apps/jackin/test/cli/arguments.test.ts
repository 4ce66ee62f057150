import { describe, expect, test } from '@jest/globals';
import { splitArguments } from '../../src/arguments.ts';

describe('the command line is split before the flag parser sees it', () => {
  test.each([
    [
      ['load', 'shell', '--', 'make', '--json'],
      { argv: ['load', 'shell'], tail: ['make', '--json'], json: false },
    ],
    [['load', '--json', '--', '--', 'x'], { argv: ['load', '--json'], tail: ['--', 'x'], json: true }],
    [['load', '--'], { argv: ['load'], tail: [], json: false }],
    [['status'], { argv: ['status'], tail: null, json: false }],
    [
      ['--json', '--debug', 'status', 'x'],
      { argv: ['status', 'x', '--json', '--debug'], tail: null, json: true },
    ],
    [['help', 'load'], { argv: ['load', '--help'], tail: null, json: false }],
    [['help'], { argv: ['--help'], tail: null, json: false }],
    [['--json'], { argv: ['--json'], tail: null, json: true }],
    [[], { argv: [], tail: null, json: false }],
  ])('%j', (args, expected) => {
    expect(splitArguments(args)).toEqual(expected);
  });
});
