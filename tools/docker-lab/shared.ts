import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { identifyProcess, type ProcessIdentity } from '@jackin/core';
import { findLab } from './index.ts';
import { type KeeperAnswer, keeperAddress } from './keeper-address.ts';
import type { DockerLab } from './lab.ts';

/** An engine to use, but not to break: others use it at the same time. */
export type Engine = Pick<DockerLab, 'socket' | 'env' | 'docker' | 'noGlibcImage'>;

const KEEPER = fileURLToPath(new URL('./keeper.ts', import.meta.url));

/**
 * One private engine for everybody in this Jest run. Whoever asks first starts a keeper process, which holds the
 * engine and removes it once the run's process is gone, however that ended.
 * @throws Error why the engine could not be started, the same for everyone.
 */
export async function sharedLab(): Promise<Engine> {
  const run = await currentRun();
  const connection = (await reachKeeper(run)) ?? (await startKeeper(run));
  const words = await text(connection);
  if (words === '') throw new Error('The keeper of the shared engine ended before the engine was ready.');
  const answer: KeeperAnswer = JSON.parse(words);
  if ('error' in answer) throw new Error(`The shared engine could not be started: ${answer.error}`);
  return findLab(answer.dir);
}

/** The process whose end is the end of the test run: for a Jest worker its parent. */
async function currentRun(): Promise<ProcessIdentity> {
  const commandLine = await readFile('/proc/self/cmdline', 'utf8');
  const isWorker = commandLine.includes('/jest-worker/');
  const run = await identifyProcess(isWorker ? process.ppid : process.pid);
  if (run === null) throw new Error('The test run has ended already.');
  return run;
}

/** The connection to the run's keeper, null when there is none. */
async function reachKeeper(run: ProcessIdentity): Promise<Socket | null> {
  const connection = connect(keeperAddress(run));
  try {
    await once(connection, 'connect');
    return connection;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return null;
    throw error;
  }
}

async function startKeeper(run: ProcessIdentity): Promise<Socket> {
  const child = spawn(process.execPath, ['--conditions=@jackin/source', KEEPER, JSON.stringify(run)], {
    // It outlives the run by what it takes to remove the engine, whatever ends the run.
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const problems = text(child.stderr);
  // One line as soon as it listens, or as soon as it knows that another one does.
  await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  const connection = await reachKeeper(run);
  if (connection === null)
    throw new Error(`The keeper of the shared engine did not start: ${await problems}`);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  problems.catch(() => {});
  child.unref();
  return connection;
}
