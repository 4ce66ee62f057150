export interface SplitArguments {
  /** What oclif parses: command id first. */
  argv: string[];
  /** What follows the first `--`; null without one. */
  tail: string[] | null;
  json: boolean;
}

const GLOBAL_FLAGS = new Set(['--json', '--debug']);

/**
 * Splits the command line at the first `--`, so that no flag parser sees what follows it; moves global flags that
 * stand before the command behind it, and reads `help COMMAND` as `COMMAND --help`.
 */
export function splitArguments(args: string[]): SplitArguments {
  const at = args.indexOf('--');
  const own = at === -1 ? args : args.slice(0, at);
  const tail = at === -1 ? null : args.slice(at + 1);
  const first = own.findIndex((word) => !GLOBAL_FLAGS.has(word));
  const argv = first <= 0 ? [...own] : [...own.slice(first), ...own.slice(0, first)];
  const helped = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  return { argv: helped, tail, json: own.includes('--json') };
}
