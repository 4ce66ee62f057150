import { runProcess } from '@jackin/core';
import type { ProbeAnswer } from '../backend.ts';
import { hostEnvironment } from './host-env.ts';

const PROBE_MS = 60_000;

/** Runs a program of this host to its end, with the environment an agent gets. */
export async function probe(
  { argv, cwd, env }: { argv: readonly string[]; cwd: string; env: Readonly<Record<string, string>> },
  hostEnv: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const [program = '', ...args] = argv;
  const result = await runProcess(program, args, {
    timeoutMs: PROBE_MS,
    cwd,
    env: { ...hostEnvironment(hostEnv), ...env },
    inheritEnv: false,
    signal,
  });
  signal.throwIfAborted();
  const output = result.failure ?? `${result.stdout.toString('utf8')}${result.stderr.toString('utf8')}`;
  return { exit_code: result.exitCode, output };
}
