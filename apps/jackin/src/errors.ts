import { stripVTControlCharacters } from 'node:util';
import { JackinError, toJackinError } from '@jackin/core';
import { Errors } from '@oclif/core';
import { commands, topics } from './commands.ts';

/**
 * Any thrown value as a JackinError. What oclif's parser refuses becomes `USAGE` (exit 2), a command that does not
 * exist `UNKNOWN_COMMAND` (exit 2); everything else is already ours or `INTERNAL`.
 */
export function toUsageError(thrown: unknown, argv: readonly string[]): JackinError {
  if (thrown instanceof JackinError || !(thrown instanceof Errors.CLIError)) return toJackinError(thrown);
  const text = stripVTControlCharacters(thrown.message)
    .replace(/\nSee more help with --help\s*$/, '')
    .replace(/^Parsing (--\S+)\s+/, '$1: ');
  const words = wordsOf(argv);
  const known = commandIn(words);
  if (known === null) return unknownCommand(words.length === 0 ? argv.slice(0, 1) : words, thrown);
  // oclif takes words behind a command without arguments for a part of its name.
  const more = /^command \S+ not found/.test(text) ? words.slice(known.split(' ').length) : [];
  return new JackinError({
    code: 'USAGE',
    message: more.length > 0 ? `Unexpected argument: ${more.join(' ')}` : sentence(text),
    hint: `jackin ${known} --help`,
    exitCode: 2,
    cause: thrown,
  });
}

/** @throws JackinError UNKNOWN_COMMAND when a topic is named and no command of it */
export function topicAlone(argv: readonly string[]): void {
  const words = wordsOf(argv);
  if (Object.hasOwn(topics, words.join(':'))) throw unknownCommand(words);
}

function unknownCommand(words: readonly string[], cause?: unknown): JackinError {
  // Words behind what could be a command are arguments of one that does not exist.
  const depth = words.findIndex((_, at) => !Object.hasOwn(topics, words.slice(0, at + 1).join(':')));
  const command = words.slice(0, depth === -1 ? words.length : depth + 1).join(' ');
  return new JackinError({
    code: 'UNKNOWN_COMMAND',
    message: `There is no command ${JSON.stringify(command)}.`,
    hint: closest(command) ?? ['jackin', ...words.slice(0, Math.max(depth, 0)), '--help'].join(' '),
    exitCode: 2,
    cause,
  });
}

/** The words before the first flag. */
function wordsOf(argv: readonly string[]): string[] {
  const flag = argv.findIndex((word) => word.startsWith('-'));
  return argv.slice(0, flag === -1 ? argv.length : flag);
}

/** The longest command these words begin with, as it is typed. */
function commandIn(words: readonly string[]): string | null {
  const names = new Set(
    Object.entries(commands).flatMap(([name, { aliases }]) => [name.replaceAll(':', ' '), ...aliases]),
  );
  const found = words.map((_, at) => words.slice(0, at + 1).join(' ')).filter((name) => names.has(name));
  return found.at(-1) ?? null;
}

/** What the parser says, as one sentence. */
function sentence(text: string): string {
  const excluded = /--([\w-]+)(?:=\S+)? cannot also be provided when using --([\w-]+)/.exec(text);
  if (excluded !== null) return `--${excluded[1]} and --${excluded[2]} exclude each other.`;
  return text.trim().replace(/\s*\n\s*/g, ' ');
}

/** The command that was probably meant: one that begins with the words or is one slip of the finger away. */
function closest(text: string): string | null {
  const names = [...Object.keys(topics), ...Object.keys(commands)].map((name) => name.replaceAll(':', ' '));
  const found =
    names.find((name) => name === text) ??
    names.find((name) => text.length > 1 && name.startsWith(text)) ??
    names.find((name) => slips(text, name) <= 2);
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
