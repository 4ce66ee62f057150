import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { HistoryResult } from '../../oracle/history.ts';

const MAIN = fileURLToPath(new URL('../../oracle/main.ts', import.meta.url));
/** Below what a test of it has. */
const LIMIT_MS = 1_490_000;
const BYTES = 256 * 1024 * 1024;

/**
 * Histories of the seeds from `first`, worktrees and clones in turns, each the session of a jackin that ends it. In a
 * process of its own, as `npm run fuzz:exit` makes them: starting a git takes several times as long from a test runner.
 */
export async function fuzz(first: number, count: number): Promise<HistoryResult[]> {
  const args = ['--histories', String(count), '--seed', String(first), '--workers', '1', '--json'];
  const { promise, resolve } = Promise.withResolvers<{ stdout: string; stderr: string }>();
  execFile(
    process.execPath,
    ['--conditions=@jackin/source', '--disable-warning=ExperimentalWarning', MAIN, ...args],
    { maxBuffer: BYTES, timeout: LIMIT_MS, killSignal: 'SIGKILL' },
    (_error, stdout, stderr) => resolve({ stdout, stderr }),
  );
  const { stdout, stderr } = await promise;
  const results = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const failed = results.find((result) => 'failed' in result);
  if (failed !== undefined || results.length !== count) {
    throw new Error(`${results.length} of ${count} histories; ${failed?.failed ?? stderr}`);
  }
  return results;
}

/** What went wrong, with all it takes to see it again: `npm run fuzz:exit -- --histories 1 --seed N`. */
export function faults(results: readonly HistoryResult[]): unknown[] {
  return results
    .filter(({ losses }) => losses.length > 0)
    .map(({ seed, kind, kept, losses, steps }) => ({ seed, kind, kept, losses, steps }));
}
