import { describe, expect, test } from '@jest/globals';
import type { Terminal } from '@xterm/headless';
import fc from 'fast-check';
import { MAX_REPAINT_BYTES } from '../src/terminal/repaint.ts';
import { createTerminalModel, type TerminalModel } from '../src/terminal/terminal-model.ts';
import { createEmulator, differences, feed, screenOf } from './support/emulator.ts';

const COLS = 20;
const ROWS = 6;
/** A machine may be busy; a run by hand may be long. */
const LIMIT_MS = 10 * 60_000;
/** More for a long run by hand: REPAINT_RUNS=20000. */
const RUNS = Number(process.env.REPAINT_RUNS ?? 150);

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

/** Private modes that a repaint switches on. */
function modesSet(repaint: Buffer): (string | undefined)[] {
  const sequences = repaint.toString().split('\u001b');
  return sequences.map((text) => /^\[\?([\d;]+)h/.exec(text)?.[1]).filter((modes) => modes !== undefined);
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
  test(
    'brings a fresh terminal to the state of one that saw all output',
    async () => {
      await fc.assert(
        fc.asyncProperty(output, async (bytes) => {
          const { truth, model } = await seen(bytes);
          expect(differences(await repainted(model), truth)).toEqual([]);
        }),
        { numRuns: RUNS },
      );
    },
    LIMIT_MS,
  );

  test(
    'brings a terminal in any other state there too, without touching its scrollback',
    async () => {
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
    },
    LIMIT_MS,
  );

  test('of an ended session shows the last screen and arms nothing', async () => {
    const dead =
      '\u001b[?1049h\u001b[?1003h\u001b[?1006h\u001b[?2004h\u001b[?1004h\u001b[?25l\u001b[?1h\u001b=\u001b[4h\u001b[2;4r\u001b[5 q';
    const { model } = await seen(`in the shell\r\n${dead}\u001b[1;1Hin the program`);
    const bytes = model.repaint({ alive: false });
    const armed = modesSet(bytes);
    expect(armed).toEqual(['7', '25']);
    const client = createEmulator(COLS, ROWS);
    await feed(client, bytes);
    expect(client.buffer.active.type).toBe('normal');
    expect(client.modes).toEqual(createEmulator(COLS, ROWS).modes);
    expect(screenOf(client)[0]).toBe('in the program');
    const { normal } = client.buffer;
    const all = Array.from({ length: normal.length }, (_, y) => normal.getLine(y)?.translateToString(true));
    expect(all).toContain('in the shell');
  });

  test('asks nothing, whatever the program asked', async () => {
    const queries = '\u001b[c\u001b[6n\u001b]11;?\u0007\u001b[?2026$p\u001bP$qm\u001b\\\u001b[>q\u001b[?u';
    const { model } = await seen(`${queries}\u001b]2;\u001b[c\u0007text`);
    const client = createEmulator(COLS, ROWS);
    const answers: string[] = [];
    client.onData((data) => answers.push(data));
    await feed(client, model.repaint({ alive: true }));
    expect(answers).toEqual([]);
    expect(screenOf(client)[0]).toContain('text');
  });

  test.each([
    ['URXVT mouse reports', '\u001b[?1000h\u001b[?1015h', '\u001b[?1015h'],
    ['SGR mouse reports', '\u001b[?1015h\u001b[?1006h', '\u001b[?1006h'],
    ['reverse video', '\u001b[?5h', '\u001b[?5h'],
    ['alternate scroll', '\u001b[?1007h', '\u001b[?1007h'],
    ['colour scheme reports', '\u001b[?2031h', '\u001b[?2031h'],
    ['kitty keyboard flags', '\u001b[>1u\u001b[>5u\u001b[=8;2u', '\u001b[>1u\u001b[>13u'],
    ['kitty keyboard flags set without a push', '\u001b[=3u', '\u001b[=3;1u'],
    ['modifyOtherKeys', '\u001b[>4;2m', '\u001b[>4;2m'],
    ['line drawing in G1', '\u001b)0\u000e', '\u001b)0\u000e'],
  ])('brings back %s, and not after they were switched off', async (_, on, expected) => {
    const { model } = await seen(on);
    const repaint = model.repaint({ alive: true }).toString();
    expect(repaint).toContain(expected);
    expect(model.repaint({ alive: false }).toString()).not.toContain(expected);
    await write(model, '\u001bc');
    expect(model.repaint({ alive: true }).toString()).not.toContain(expected);
  });

  test('of a SGR mouse encoding does not bring back the URXVT one it replaced', async () => {
    const { model } = await seen('\u001b[?1015h\u001b[?1006h');
    expect(model.repaint({ alive: true }).toString()).not.toContain('\u001b[?1015h');
  });

  test('keeps keyboard flags of both screens apart', async () => {
    const { model } = await seen('\u001b[>1u\u001b[?1049h\u001b[>8u');
    const repaint = model.repaint({ alive: true }).toString();
    const order = ['[>1u', '[?1049h', '[>8u'].map((sequence) => repaint.lastIndexOf(`\u001b${sequence}`));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
    await write(model, '\u001b[<u\u001b[?1049l');
    expect(model.repaint({ alive: true }).toString()).not.toContain('\u001b[>8u');
  });

  test(
    'takes less scrollback along when the screen costs too much',
    async () => {
      const expensive = Array.from(
        { length: 200 },
        (_, x) => `\u001b[38;2;${x};1;2;48;2;3;4;${x}m${x % 10}`,
      ).join('');
      const { truth, model } = await seen(`${expensive}\r\n`.repeat(900), 200, 50);
      const bytes = model.repaint({ alive: true });
      expect(bytes.length).toBeLessThanOrEqual(MAX_REPAINT_BYTES);
      const client = createEmulator(200, 50);
      await feed(client, bytes);
      expect(client.buffer.normal.length).toBeLessThan(truth.buffer.normal.length);
      expect(screenOf(client)).toEqual(screenOf(truth));
    },
    LIMIT_MS,
  );
});

describe('the terminal model', () => {
  test('answers queries, with or without clients', async () => {
    const answers: string[] = [];
    const model = createTerminalModel({ cols: 80, rows: 24, answer: (bytes) => answers.push(bytes) });
    await write(
      model,
      '\u001b[5;3H\u001b[6n\u001b[c\u001b[5n\u001b[>c\u001bZ\u001b[?2004$p\u001bP$qr\u001b\\\u001b[18t',
    );
    expect(answers).toEqual([
      '\u001b[5;3R',
      '\u001b[?1;2c',
      '\u001b[0n',
      '\u001b[>0;276;0c',
      '\u001b[?1;2c',
      '\u001b[?2004;2$y',
      '\u001bP1$r1;24r\u001b\\',
      '\u001b[8;24;80t',
    ]);
  });

  test('survives what makes the emulator fail', async () => {
    const model = createTerminalModel({ cols: 20, rows: 6, answer: () => {} });
    await write(model, '\u001b[6;20Hx\u001b[1J');
    await write(model, '\u001b[Hstill here');
    expect(model.text(10).lines[0]).toBe('still here');
  });

  test('gives the last lines as text', async () => {
    const { model } = await seen(
      `\u001b]2;a title\u0007${Array.from({ length: 30 }, (_, n) => `line ${n}\r\n`).join('')}`,
    );
    expect(model.text(3)).toEqual({ title: 'a title', lines: ['line 27', 'line 28', 'line 29'] });
  });
});
