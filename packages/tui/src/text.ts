import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

export interface TextOptions {
  /** Colour codes may be used. */
  color: boolean;
  /** Now, for ages. */
  now: Date;
}

/** Colour on a terminal that can show it and whose user did not refuse it (NO_COLOR, CI, TERM=dumb). */
export function wantsColor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && !isCi(env) && env.TERM !== 'dumb';
}

/** A painter that leaves text alone without colour. */
export function painter(color: boolean): Paint {
  return (style, text) => (color ? styleText(style, text, { validateStream: false }) : text);
}

/**
 * Text that came from files, agents or engines, safe to show: no control character reaches the terminal, and none
 * disappears.
 */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to take out
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (found) =>
    found === '\t' ? '  ' : `\\x${found.codePointAt(0)?.toString(16).padStart(2, '0')}`,
  );
}

/** Columns padded to their widest cell; the last one is left as it is. */
export function table(rows: string[][]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** `1.2 s`, `85 ms` */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** `4.2 MB`; `unknown` when it could not be measured. */
export function bytes(count: number | null): string {
  if (count === null) return 'unknown';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** The parts as lines of one text; `null` parts are left out. Ends with a newline, or is empty. */
export function lines(...parts: (string | string[] | null)[]): string {
  const flat = parts.flat().filter((part) => part !== null);
  return flat.length === 0 ? '' : `${flat.join('\n')}\n`;
}

/** A build machine: nobody reads colours or answers questions there. */
export function isCi(env: NodeJS.ProcessEnv): boolean {
  return env.CI !== undefined && env.CI !== '' && env.CI !== '0' && env.CI !== 'false';
}
