import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcessesByEnv, identifyProcess, type ProcessIdentity, processState } from '@jackin/core';

export interface EndProcessesOptions {
  /** The processes to end, as they are now. */
  find(): Promise<ProcessIdentity[]>;
  /** How long they may take before they are killed. */
  graceMs: number;
  /** Cuts the grace short. */
  hurry?: AbortSignal | undefined;
}

const POLL_MS = 50;
/** Killing is repeated, because a process may start another one between being seen and being killed. */
const KILL_LIMIT_MS = 5000;

/**
 * Ends processes in good order: HUP and TERM, then KILL for those that stay.
 * @returns those that are still there, which is none unless they cannot be killed
 */
export async function endProcesses({
  find,
  graceMs,
  hurry,
}: EndProcessesOptions): Promise<ProcessIdentity[]> {
  const asked = new Set<string>();
  const deadline = performance.now() + graceMs;
  for (;;) {
    const alive = await find();
    if (alive.length === 0) return [];
    if (performance.now() >= deadline || hurry?.aborted === true) break;
    for (const identity of alive) {
      if (asked.has(keyOf(identity))) continue;
      asked.add(keyOf(identity));
      // A stopped process takes the others only when it continues; an interactive shell ignores TERM.
      for (const signal of ['SIGHUP', 'SIGTERM', 'SIGCONT'] as const) await signalProcess(identity, signal);
    }
    await sleep(POLL_MS);
  }
  const killDeadline = performance.now() + KILL_LIMIT_MS;
  for (;;) {
    const alive = await find();
    if (alive.length === 0 || performance.now() >= killDeadline) return alive;
    for (const identity of alive) await signalProcess(identity, 'SIGKILL');
    await sleep(POLL_MS);
  }
}

export interface SessionProcessesOptions {
  instanceId: string;
  sessionId: string;
  /** The agent: leader of the terminal session. */
  leader: number;
  leaderAlive: boolean;
  cgroupPids: number[];
}

/**
 * The living processes of one session: the agent, what carries our marks in its environment, what is in the
 * session's control group or on its terminal.
 */
export async function sessionProcesses(options: SessionProcessesOptions): Promise<ProcessIdentity[]> {
  const { instanceId, sessionId, leader, leaderAlive, cgroupPids } = options;
  const [ofInstance, ofSession, onTerminal] = await Promise.all([
    findProcessesByEnv('JACKIN_INSTANCE', instanceId),
    findProcessesByEnv('JACKIN_SESSION', sessionId),
    pidsOfTerminalSession(leader),
  ]);
  const instance = new Set(ofInstance.map(keyOf));
  const found = new Map(ofSession.filter((one) => instance.has(keyOf(one))).map((one) => [one.pid, one]));
  for (const pid of [...cgroupPids, ...onTerminal, ...(leaderAlive ? [leader] : [])]) {
    if (found.has(pid) || pid === process.pid) continue;
    const identity = await identifyProcess(pid).catch(() => null);
    if (identity !== null) found.set(pid, identity);
  }
  return [...found.values()];
}

/** A number stays taken as long as a process is in the session it names, so this cannot meet strangers. */
async function pidsOfTerminalSession(leader: number): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const sessions = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
    }),
  );
  return pids.filter((_, index) => sessions[index] === leader).map(Number);
}

async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
  if ((await processState(identity)) !== 'alive') return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // Gone since it was looked at.
  }
}

function keyOf({ pid, start_time }: ProcessIdentity): string {
  return `${pid} ${start_time}`;
}
