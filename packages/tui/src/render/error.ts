import type { JackinError } from '@jackin/core';
import { lines, painter, printable, wantsColor } from '../text.ts';

/** An error as an operator reads it: the sentence, its code, and what to type next. Never a stack trace. */
export function renderError(
  error: JackinError,
  io: { stderr: { isTTY?: boolean }; env: NodeJS.ProcessEnv },
): string {
  const paint = painter(wantsColor(io.stderr, io.env));
  const [first = '', ...rest] = error.message.split('\n');
  return lines(
    `${paint('red', 'error')} ${printable(first)} ${paint('dim', `(${error.code})`)}`,
    rest.map((line) => `      ${printable(line)}`),
    error.hint === undefined ? null : error.hint.split('\n').map((line) => `      ${printable(line)}`),
  );
}
