import { spawn } from 'node:child_process';
import { TourFailure } from './check.ts';
import type { Scratch } from './scratch.ts';

const COMMAND_LIMIT_MS = 30_000;

interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The command line under tour: runs real commands, shows them with their real output. */
export interface Jackin {
  /** Runs `jackin ARGS`, prints the command and its output, and throws TourFailure on another exit code than 0. */
  show(args: string[]): Promise<CommandResult>;
  /** The same with `--json`; returns the document's `data`. */
  showJson<T>(args: string[]): Promise<T>;
  /** `--json` without printing, to check what was shown as text. Other exit codes than 0 only where `codes` has them. */
  ask<T>(args: string[], codes?: number[]): Promise<T>;
}

export function createJackin(options: { cli: string; scratch: Scratch; signal: AbortSignal }): Jackin {
  const { scratch } = options;
  const run = (args: string[]) => runCommand([options.cli, ...args], scratch, options.signal);
  const show = async (args: string[]) => {
    process.stdout.write(`$ jackin ${args.join(' ')}\n`);
    const result = await run(args);
    process.stdout.write(indent(result.stderr + result.stdout));
    return mustSucceed(args, result);
  };
  return {
    show,
    showJson: async (args) => dataOf(args, await show([...args, '--json'])),
    ask: async (args, codes) => dataOf(args, mustSucceed(args, await run([...args, '--json']), codes)),
  };
}

async function runCommand(args: string[], scratch: Scratch, signal: AbortSignal): Promise<CommandResult> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, args, {
    cwd: scratch.project,
    env: scratch.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    timeout: COMMAND_LIMIT_MS,
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
  const how =
    result.code === null ? `was ended after ${COMMAND_LIMIT_MS / 1000} s` : `exited with ${result.code}`;
  throw new TourFailure(`"jackin ${args.join(' ')}" ${how}\n${indent(result.stderr + result.stdout)}`);
}

/** The `data` of the one document a `--json` command prints (docs/errors.md). */
function dataOf<T>(args: string[], { stdout }: CommandResult): T {
  let document: { schema_version?: unknown; data?: unknown };
  try {
    document = JSON.parse(stdout);
  } catch {
    throw new TourFailure(
      `"jackin ${args.join(' ')}" printed something else than one JSON document: ${stdout}`,
    );
  }
  if (document.schema_version !== 'v1' || document.data === undefined) {
    throw new TourFailure(`"jackin ${args.join(' ')}" printed a document without data: ${stdout}`);
  }
  return document.data as T;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
