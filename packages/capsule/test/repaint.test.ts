import { describe, expect, test } from '@jest/globals';
import type { Terminal } from '@xterm/headless';
import fc from 'fast-check';
import { MAX_REPAINT_BYTES } from '../src/terminal/repaint.ts';
import { createTerminalModel, type TerminalModel } from '../src/terminal/terminal-model.ts';
import { createEmulator, differences, feed, screenOf } from './support/emulator.ts';

const COLS = 20;
const ROWS = 6;
/** More for a long run by hand: REPAINT_RUNS=20000. */
const RUNS = Number(process.env['REPAINT_RUNS'] ?? 300);

function write(model: TerminalModel, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => model.write(Buffer.from(bytes), resolve));
}

async function seen(
  output: string | Uint8Array,
  cols: number = COLS,
  rows: number = ROWS,
): Promise<{ truth: Terminal; model: TerminalModel }> {
  const truth = createEmulator(cols, rows);
  const model = createTerminalModel({ cols, rows, answer: () => {} });
  await feed(truth, output);
  await write(model, output);
  return { truth, model };
}

async function repainted(
  model: TerminalModel,
  onto: Terminal = createEmulator(COLS, ROWS),
): Promise<Terminal> {
  await feed(onto, model.repaint({ alive: true }));
  return onto;
}

const rgb = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));
const sgr = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '2',
    '3',
    '4',
    '5',
    '7',
    '8',
    '9',
    '21',
    '22',
    '24',
    '27',
    '39',
    '49',
    '53',
    '59',
    '4:3',
    '4:5',
  ),
  fc.integer({ min: 30, max: 37 }).map(String),
  fc.integer({ min: 100, max: 107 }).map(String),
  fc.nat(255).map((n) => `38;5;${n}`),
  fc.nat(255).map((n) => `48;5;${n}`),
  rgb.map(([r, g, b]) => `38;2;${r};${g};${b}`),
  rgb.map(([r, g, b]) => `48;2;${r};${g};${b}`),
  rgb.map(([r, g, b]) => `58:2::${r}:${g}:${b}`),
);
const small = fc.integer({ min: 1, max: 25 });
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[ -~]{1,30}$/) },
  { weight: 2, arbitrary: fc.constantFrom('漢字', '한글', 'é', 'e\u0301', '→', '👍', 'ａ') },
  { weight: 3, arbitrary: fc.constantFrom('\r\n', '\n', '\r', '\b', '\t', '\u001bD', '\u001bM', '\u001bE') },
  {
    weight: 4,
    arbitrary: fc.array(sgr, { minLength: 1, maxLength: 4 }).map((codes) => `\u001b[${codes.join(';')}m`),
  },
  { weight: 4, arbitrary: fc.tuple(small, small).map(([row, col]) => `\u001b[${row};${col}H`) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(small, fc.constantFrom(...'ABCDGILMPSTXZ@bd'))
      .map(([n, final]) => `\u001b[${n}${final}`),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(2), fc.constantFrom('J', 'K')).map(([n, final]) => `\u001b[${n}${final}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 2, max: 6 }))
      .map(([top, bottom]) => `\u001b[${top};${bottom}r`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(1, 6, 7, 9, 25, 45, 66, 1000, 1002, 1003, 1004, 1006, 1016, 2004),
        fc.constantFrom('h', 'l'),
      )
      .map(([mode, how]) => `\u001b[?${mode}${how}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\u001b[?1049h',
      '\u001b[?1049l',
      '\u001b[?47h',
      '\u001b[?47l',
      '\u001b7',
      '\u001b8',
      '\u001b[!p',
      '\u001bH',
      '\u001b[g',
      '\u001b[4h',
      '\u001b[4l',
      '\u001b(0',
      '\u001b(B',
      '\u001b)0',
      '\u000e',
      '\u000f',
      '\u001b[4 q',
      '\u001b[1"q',
      '\u001bc',
    ),
  },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-z é]{1,12}$/).map((title) => `\u001b]0;${title}\u0007`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\u001b]8;;http://example.org/a\u001b\\',
      '\u001b]8;id=x;http://example.org/b\u001b\\',
      '\u001b]8;;\u001b\\',
    ),
  },
);
const output = fc.array(piece, { maxLength: 80 }).map((pieces) => pieces.join(''));

describe('repaint', () => {
  test('brings a fresh terminal to the state of one that saw all output', async () => {
    await fc.assert(
      fc.asyncProperty(output, async (bytes) => {
        const { truth, model } = await seen(bytes);
        expect(differences(await repainted(model), truth)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test('brings a terminal in any other state there too, without touching its scrollback', async () => {
    await fc.assert(
      fc.asyncProperty(output, output, async (before, bytes) => {
        const used = createEmulator(COLS, ROWS);
        await feed(used, before);
        const { truth, model } = await seen(`${bytes}\u001b]2;title\u0007`);
        const older = used.buffer.normal.length;
        const painted = await repainted(model, used);
        expect(differences(painted, truth, { usedBefore: true })).toEqual([]);
        expect(painted.buffer.normal.length).toBe(older + truth.buffer.normal.length - ROWS);
      }),
      { numRuns: RUNS },
    );
  });
});
