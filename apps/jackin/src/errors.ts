import { stripVTControlCharacters } from 'node:util';
import { JackinError, toJackinError } from '@jackin/core';
import { Errors } from '@oclif/core';
import { commands } from './commands.ts';

/**
 * Any thrown value as a JackinError. What oclif's parser refuses becomes `USAGE` (exit 2), a command that does not
 * exist `UNKNOWN_COMMAND` (exit 2); everything else is already ours or `INTERNAL`.
 */
export function toUsageError(thrown: unknown, command: string | undefined): JackinError {
  if (thrown instanceof JackinError || !(thrown instanceof Errors.CLIError)) return toJackinError(thrown);
  const known = Object.entries(commands).some(
    ([name, { aliases }]) => name === command || aliases.includes(command ?? ''),
  );
  const text = stripVTControlCharacters(thrown.message)
    .replace(/\nSee more help with --help\s*$/, '')
    .replace(/^Parsing (--\S+)\s+/, '$1: ');
  if (known) {
    return new JackinError({
      code: 'USAGE',
      message: sentence(text),
      hint: `jackin ${command} --help`,
      exitCode: 2,
      cause: thrown,
    });
  }
  return new JackinError({
    code: 'UNKNOWN_COMMAND',
    message: `There is no command ${JSON.stringify(command ?? '')}.`,
    hint: closest(command ?? '') ?? 'jackin --help',
    exitCode: 2,
    cause: thrown,
  });
}

/** What the parser says, as one sentence. */
function sentence(text: string): string {
  const excluded = /--([\w-]+)(?:=\S+)? cannot also be provided when using --([\w-]+)/.exec(text);
  if (excluded !== null) return `--${excluded[1]} and --${excluded[2]} exclude each other.`;
  return text.trim().replace(/\s*\n\s*/g, ' ');
}

/** The command that was probably meant: one that begins with the word or is one slip of the finger away. */
function closest(word: string): string | null {
  const names = Object.keys(commands);
  const found =
    names.find((name) => word.length > 1 && name.startsWith(word)) ??
    names.find((name) => slips(word, name) <= 2);
  return found === undefined ? null : `jackin ${found} --help`;
}

function slips(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
