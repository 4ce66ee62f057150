import { dirname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorDocument, type JackinError, toJackinError } from '@jackin/core';
import type { FlowResult } from '@jackin/runtime';
import { Config, run as runOclif, settings } from '@oclif/core';
import { splitArguments } from './arguments.ts';
import { type CliContext, withContext } from './context.ts';
import { topicAlone, toUsageError } from './errors.ts';
import { packageJson } from './package-json.ts';
import { writeAll } from './write.ts';

/** Runs the command line of this process and ends it. The only place of the program that exits. */
export async function run(): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const io = { stdin, stdout, stderr, env, cwd: workingDirectory(process.env) };
  const args = process.argv.slice(2);
  // Whoever writes hears of a failure from the write itself; the command ends by its own outcome.
  // oclif listens too and throws, which would end the report of a failed write in a failed write.
  for (const stream of [stdout, stderr]) stream.removeAllListeners('error').on('error', () => undefined);
  const unforeseen = (thrown: unknown): void => {
    const { json } = splitArguments(args);
    void report(toJackinError(thrown), json, io).finally(() => process.exit(1));
  };
  process.on('uncaughtException', unforeseen);
  process.on('unhandledRejection', unforeseen);
  process.exit(await main(args, io));
}

/** Most commands need none; one that does names the directory that is not there any more. */
function workingDirectory(env: NodeJS.ProcessEnv): string {
  try {
    return process.cwd();
  } catch {
    return isAbsolute(env.PWD ?? '') ? (env.PWD as string) : '/';
  }
}

/** One command line to its exit code (docs/errors.md): result on stdout, talk on stderr, never a stack trace. */
export async function main(args: string[], io: Omit<CliContext, 'tail'>): Promise<number> {
  const { argv, tail, json } = splitArguments(args);
  try {
    settings.enableAutoTranspile = false;
    // Help is no document.
    if (json) topicAlone(argv);
    const config = await Config.load({
      root: dirname(fileURLToPath(import.meta.url)),
      pjson: packageJson(),
      isRoot: true,
      userPlugins: false,
      devPlugins: false,
      ignoreManifest: true,
    });
    const result = await withContext({ ...io, tail }, () => runOclif(argv, config));
    return (result as FlowResult | undefined)?.exitCode ?? 0;
  } catch (thrown) {
    const error = toUsageError(thrown, argv);
    // With stderr broken too there is nobody left to tell.
    await report(error, json, io).catch(() => undefined);
    return error.exitCode;
  }
}

async function report(error: JackinError, json: boolean, io: Omit<CliContext, 'tail'>): Promise<void> {
  if (json && error.code !== 'OUTPUT_FAILED') {
    await writeAll(io.stdout, `${JSON.stringify(errorDocument(error), null, 2)}\n`);
    return;
  }
  await writeAll(io.stderr, await errorText(error, io));
}

/** The screens are loaded late; a jackin that is replaced while it runs may not find its own any more. */
async function errorText(error: JackinError, io: Omit<CliContext, 'tail'>): Promise<string> {
  try {
    const { renderError } = await import('@jackin/tui');
    return renderError(error, io);
  } catch {
    return `error ${error.message} (${error.code})\n`;
  }
}
