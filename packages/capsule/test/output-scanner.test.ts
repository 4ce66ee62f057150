import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createOutputScanner, MAX_STRING_BYTES } from '../src/terminal/output-scanner.ts';

const ESC = '\u001b';

interface Scanned {
  model: string;
  clients: string;
}

function scan(chunks: (string | Uint8Array)[]): Scanned {
  const scanner = createOutputScanner();
  const results = chunks.map((chunk) => scanner.push(Buffer.from(chunk as string)));
  return {
    model: Buffer.concat(results.map(({ model }) => model)).toString('latin1'),
    clients: Buffer.concat(results.map(({ clients }) => clients)).toString('latin1'),
  };
}

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
const byteByByte = (text: string): Uint8Array[] => [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));

const QUERIES: [string, string][] = [
  ['primary attributes', `${ESC}[c`],
  ['primary attributes with 0', `${ESC}[0c`],
  ['secondary attributes', `${ESC}[>c`],
  ['tertiary attributes', `${ESC}[=0c`],
  ['attributes as C1', '\u009bc'],
  ['the old identity', `${ESC}Z`],
  ['the old identity as C1', '\u009a'],
  ['status', `${ESC}[5n`],
  ['cursor position', `${ESC}[6n`],
  ['extended cursor position', `${ESC}[?6n`],
  ['colour scheme', `${ESC}[?996n`],
  ['mode', `${ESC}[4$p`],
  ['private mode', `${ESC}[?2026$p`],
  ['terminal version', `${ESC}[>0q`],
  ['kitty keyboard', `${ESC}[?u`],
  ['graphics attributes', `${ESC}[?2;1;0S`],
  ['key modifiers', `${ESC}[?4m`],
  ['terminal parameters', `${ESC}[x`],
  ['window size in characters', `${ESC}[18t`],
  ['window size in pixels', `${ESC}[14;2t`],
  ['title', `${ESC}[21t`],
  ['presentation state', `${ESC}[1$w`],
  ['checksum', `${ESC}[1;1;1;1;5;5*y`],
  ['switching size reports on', `${ESC}[?2048h`],
  ['status string', `${ESC}P$qm${ESC}\\`],
  ['termcap', `${ESC}P+q544e${ESC}\\`],
  ['termcap as C1', '\u0090+q544e\u009c'],
  ['palette colour', `${ESC}]4;1;?\u0007`],
  ['palette colours', `${ESC}]4;1;?;2;?${ESC}\\`],
  ['foreground', `${ESC}]10;?\u0007`],
  ['background', `${ESC}]11;?${ESC}\\`],
  ['background as C1', '\u009d11;?\u009c'],
  ['background with a leading zero', `${ESC}]011;?\u0007`],
  ['cursor colour', `${ESC}]12;?\u0007`],
  ['clipboard', `${ESC}]52;c;?\u0007`],
  ['font', `${ESC}]50;?\u0007`],
  ['kitty colours', `${ESC}]21;foreground=?${ESC}\\`],
  ['kitty notifications', `${ESC}]99;i=1:p=?;${ESC}\\`],
  ['cell size', `${ESC}]1337;ReportCellSize\u0007`],
  ['kitty graphics', `${ESC}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA${ESC}\\`],
  ['the answerback', '\u0005'],
];

const OTHERS: [string, string][] = [
  ['text', 'hello, wörld 漢字 👍 e\u0301\r\n\tx\b'],
  ['colours', `${ESC}[1;38;2;1;2;3m${ESC}[4:3mx${ESC}[0m`],
  ['cursor movement', `${ESC}[5;6H${ESC}[2J${ESC}[K${ESC}[?25l`],
  ['Linux cursor shape', `${ESC}[?1c`],
  ['an answer of a terminal', `${ESC}[?1;2c${ESC}[>1;10;0c`],
  ['restoring the cursor', `${ESC}[u${ESC}7${ESC}8`],
  ['kitty keyboard flags', `${ESC}[>1u${ESC}[<u${ESC}[=3;1u`],
  ['modifyOtherKeys', `${ESC}[>4;2m`],
  ['scrolling', `${ESC}[3S${ESC}[2T`],
  ['the alternate screen', `${ESC}[?1049h${ESC}[?1049l`],
  ['focus and mouse', `${ESC}[?1004h${ESC}[?1000;1006h`],
  ['a soft reset', `${ESC}[!p`],
  ['the cursor style', `${ESC}[4 q`],
  ['a resize request', `${ESC}[8;24;80t${ESC}[22;0t${ESC}[23;0t`],
  ['clearing a tab stop', `${ESC}[g${ESC}[3g`],
  ['a title', `${ESC}]0;what? 10;?\u0007${ESC}]2;x${ESC}\\`],
  ['a directory', `${ESC}]7;file://host/dir?\u0007`],
  ['a link', `${ESC}]8;;http://example.org/?a=?${ESC}\\x${ESC}]8;;${ESC}\\`],
  ['setting colours', `${ESC}]4;1;rgb:00/11/22\u0007${ESC}]11;#123456\u0007${ESC}]104\u0007`],
  ['setting the clipboard', `${ESC}]52;c;aGVsbG8=\u0007`],
  ['a notification', `${ESC}]9;done?\u0007`],
  ['marks of the shell', `${ESC}]133;A${ESC}\\`],
  ['a picture', `${ESC}Pq#0;2;0;0;0~~@@${ESC}\\`],
  ['charsets', `${ESC}(0lqk${ESC}(B${ESC}%G`],
  ['a cancelled sequence', `${ESC}[1;2\u0018x${ESC}]0;t\u001ax`],
  ['controls inside a sequence', `${ESC}[1\n2mx`],
  ['messages for nobody', `${ESC}^private${ESC}\\${ESC}Xstring${ESC}\\${ESC}_app${ESC}\\`],
];

describe('the output scanner', () => {
  test.each(QUERIES)('keeps a query from clients: %s', (_, query) => {
    for (const chunks of [[`a${query}b`], byteByByte(`a${query}b`)]) {
      const { model, clients } = scan(chunks);
      expect(clients).toBe('ab');
      expect(model.replaceAll('\u0005', '')).toBe(bytesOf(`a${query}b`).replaceAll('\u0005', ''));
    }
  });

  test.each(OTHERS)('leaves everything else as it is: %s', (_, text) => {
    for (const chunks of [[text], byteByByte(text)]) {
      expect(scan(chunks)).toEqual({ model: bytesOf(text), clients: bytesOf(text) });
    }
  });

  test('takes the same decisions over any chunk boundary', () => {
    const piece = fc.oneof(
      fc.constantFrom(...QUERIES.map(([, query]) => query)),
      fc.constantFrom(...OTHERS.map(([, text]) => text)),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(ESC, `${ESC}[`, `${ESC}]`, `${ESC}P`, '\u0018', '\u009b', ';', '?', 'c', '\\'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(2000)), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''));
        const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
        const chunks = [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
        expect(scan(chunks)).toEqual(scan([bytes]));
      }),
      { numRuns: 1000 },
    );
  });

  test('holds back what is not finished, on both sides', () => {
    const scanner = createOutputScanner();
    const push = (text: string): string[] => {
      const { model, clients } = scanner.push(Buffer.from(text, 'latin1'));
      return [model.toString('latin1'), clients.toString('latin1')];
    };
    expect(push(`a${ESC}`)).toEqual(['a', 'a']);
    expect(push('[31')).toEqual(['', '']);
    expect(push('mb\u00e6')).toEqual([`${ESC}[31mb`, `${ESC}[31mb`]);
    expect(push('\u00bc\u00a2')).toEqual(['\u00e6\u00bc\u00a2', '\u00e6\u00bc\u00a2']);
    expect(push(`${ESC}]0;tit`)).toEqual(['', '']);
    expect(push('le\u0007.')).toEqual([`${ESC}]0;title\u0007.`, `${ESC}]0;title\u0007.`]);
  });

  test('does not take the middle of a character for a control', () => {
    const text = 'ěc Ľc \u00e9c'; // their last bytes are those of C1 controls in Latin-1
    expect(scan(byteByByte(text)).clients).toBe(bytesOf(text));
  });

  test('forwards what a program executes inside a query that it strips', () => {
    expect(scan([`a${ESC}[\r\nc`]).clients).toBe('a\r\n');
  });

  test('takes size reports out of a list of modes and leaves the others', () => {
    expect(scan([`${ESC}[?1049;2048;25h`]).clients).toBe(`${ESC}[?1049;25h`);
  });

  test('terminates a string that a stripped query had cut off', () => {
    expect(scan([`${ESC}]2;title${ESC}[cx`]).clients).toBe(`${ESC}]2;title${ESC}\\x`);
    expect(scan([`${ESC}]2;title${ESC}[mx`]).clients).toBe(`${ESC}]2;title${ESC}[mx`);
    expect(scan([`${ESC}]11;?${ESC}[mx`]).clients).toBe(`${ESC}[mx`);
  });

  test('keeps a query from clients that a program wants passed on by tmux', () => {
    expect(scan([`a${ESC}Ptmux;${ESC}${ESC}[c${ESC}\\b`]).clients).toBe(`a${ESC}\\b`);
  });

  test('leaves no half sequence behind when a query interrupts one', () => {
    expect(scan([`${ESC}[3${ESC}[chello`]).clients).toBe('hello');
  });

  test('drops strings and sequences of absurd length on both sides and goes on', () => {
    const long = Buffer.alloc(64 * 1024, 'x');
    const chunks = [`a${ESC}]0;`, ...Array.from({ length: 17 }, () => long), '\u0007b'];
    expect(long.length * 17).toBeGreaterThan(MAX_STRING_BYTES);
    expect(scan(chunks)).toEqual({ model: 'ab', clients: 'ab' });
    expect(scan([`a${ESC}[`, Buffer.alloc(5000, ';'), 'cb'])).toEqual({ model: 'ab', clients: 'ab' });
    expect(scan([`a${ESC}[`, Buffer.alloc(5000, '1'), `${ESC}[31mb`])).toEqual({
      model: `a${ESC}[31mb`,
      clients: `a${ESC}[31mb`,
    });
  });

  test('puts together a string that comes byte by byte', () => {
    const scanner = createOutputScanner();
    const content = 'x'.repeat(100_000);
    for (const byte of byteByByte(`${ESC}]0;${content}`))
      expect(scanner.push(Buffer.from(byte)).model.length).toBe(0);
    expect(scanner.push(Buffer.from('\u0007')).clients.toString()).toBe(`${ESC}]0;${content}\u0007`);
  });
});
