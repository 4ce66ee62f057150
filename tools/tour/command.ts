import { spawn } from 'node:child_process';
import { TourFailure } from './check.ts';
import type { Scratch } from './scratch.ts';

const COMMAND_LIMIT_MS = 60_000;

interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** What a `--json` command prints (docs/errors.md#documents). */
export type TourDocument<T> = { data: T } | { error: { code: string; message: string } };

/** The command line under tour: runs real commands, shows them with their real output. */
export interface Jackin {
  /** Runs `jackin ARGS`, prints the command and its output, and throws TourFailure on another exit code than `codes`. */
  show(args: string[], codes?: number[]): Promise<CommandResult>;
  /** The same with `--json`; returns the document's `data`. */
  showJson<T>(args: string[], codes?: number[]): Promise<T>;
  /** The same for a command that may fail: its document, with `data` or `error`. `limitMs` instead of the usual limit. */
  tryJson<T>(args: string[], limitMs: number): Promise<TourDocument<T>>;
  /** `--json` without printing, to check what was shown as text. */
  ask<T>(args: string[]): Promise<T>;
  /** The same with the operator's own way to an engine; also when the answer names errors. */
  askAboutEngine<T>(args: string[]): Promise<T>;
}

export function createJackin(options: { cli: string; scratch: Scratch; signal: AbortSignal }): Jackin {
  const { scratch } = options;
  const run = (args: string[], limitMs = COMMAND_LIMIT_MS, env = scratch.env) =>
    runCommand([options.cli, ...args], { cwd: scratch.project, env, signal: options.signal, limitMs });
  const print = async (args: string[], limitMs?: number) => {
    process.stdout.write(`$ jackin ${args.join(' ')}\n`);
    const result = await run(args, limitMs);
    process.stdout.write(indent(result.stderr + result.stdout));
    return result;
  };
  const show = async (args: string[], codes?: number[]) => mustSucceed(args, await print(args), codes);
  return {
    show,
    showJson: async (args, codes) => dataOf(args, await show(asJson(args), codes)),
    tryJson: async (args, limitMs) => {
      const all = asJson(args);
      return documentOf(args, mustSucceed(args, await print(all, limitMs), [0, 1]));
    },
    ask: async (args) => dataOf(args, mustSucceed(args, await run(asJson(args)))),
    askAboutEngine: async (args) => {
      const answer = await run(asJson(args), COMMAND_LIMIT_MS, scratch.discoveryEnv);
      return dataOf(args, mustSucceed(args, answer, [0, 1]));
    },
  };
}

/** What follows `--` is the session's command. */
function asJson(args: string[]): string[] {
  const end = args.indexOf('--');
  return end === -1 ? [...args, '--json'] : [...args.slice(0, end), '--json', ...args.slice(end)];
}

async function runCommand(
  args: string[],
  options: { cwd: string; env: Record<string, string>; signal: AbortSignal; limitMs: number },
): Promise<CommandResult> {
  const { cwd, env, signal, limitMs } = options;
  signal.throwIfAborted();
  const child = spawn(process.execPath, args, {
    ...{ cwd, env, signal },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...output }));
  });
}

function mustSucceed(args: string[], result: CommandResult, codes = [0]): CommandResult {
  if (result.code !== null && codes.includes(result.code)) return result;
  const how = result.code === null ? 'was ended because it took too long' : `exited with ${result.code}`;
  throw new TourFailure(`"jackin ${args.join(' ')}" ${how}\n${indent(result.stderr + result.stdout)}`);
}

/** The `data` of the one document a `--json` command prints. */
function dataOf<T>(args: string[], result: CommandResult): T {
  const document = documentOf<T>(args, result);
  if ('data' in document) return document.data;
  throw new TourFailure(`"jackin ${args.join(' ')}" printed a document without data: ${result.stdout}`);
}

function documentOf<T>(args: string[], { stdout }: CommandResult): TourDocument<T> {
  let document: { schema_version?: unknown; data?: T; error?: { code: string; message: string } };
  try {
    document = JSON.parse(stdout);
  } catch {
    throw new TourFailure(
      `"jackin ${args.join(' ')}" printed something else than one JSON document: ${stdout}`,
    );
  }
  const { schema_version: version, data, error } = document;
  if (version === 'v1' && data !== undefined) return { data };
  if (version === 'v1' && typeof error?.code === 'string') return { error };
  throw new TourFailure(`"jackin ${args.join(' ')}" printed a document without data: ${stdout}`);
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
