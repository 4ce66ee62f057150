import { readdir, readFile } from 'node:fs/promises';
import { JackinError } from './errors.ts';
import { errorCode } from './file-errors.ts';
import type { ProcessIdentity } from './ports.ts';
import { addTo, lookWithPs, type ProcessLook, pidsByEnvWithPs, sysctlBootId } from './process-ps.ts';

const LINUX = process.platform === 'linux';
let cachedBootId: Promise<string> | undefined;
let cachedOwn: Promise<ProcessIdentity> | undefined;

/** Identifies this boot of the machine. @throws JackinError `BOOT_ID_UNKNOWN`. */
export function bootId(): Promise<string> {
  cachedBootId ??= readBootId();
  return cachedBootId;
}

/** The running process. @throws JackinError `BOOT_ID_UNKNOWN`, `PROCESS_UNKNOWN`. */
export function ownIdentity(): Promise<ProcessIdentity> {
  cachedOwn ??= identifyProcess(process.pid).then((own) => {
    if (own !== null) return own;
    throw unknownProcess(process.pid, 'it is missing from the process list');
  });
  return cachedOwn;
}

/**
 * The identity of a living process; null when there is none or only a zombie.
 * @throws JackinError `PROCESS_UNKNOWN` when it may exist but cannot be looked at, `BOOT_ID_UNKNOWN`.
 */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | null> {
  const look = await lookAtProcess(pid);
  if (look.state === 'unknown') throw unknownProcess(pid, look.reason);
  if (look.state !== 'alive') return null;
  return { pid, start_time: look.start_time, boot_id: await bootId() };
}

/**
 * Whether that very process still runs. Dead: another boot, no such pid, another start time, or a zombie (which
 * answers signal 0 until it is reaped). Stopped and sleeping processes are alive, however long.
 */
export async function processState(identity: ProcessIdentity): Promise<'alive' | 'dead' | 'unknown'> {
  if (identity.boot_id !== (await bootId())) return 'dead';
  const look = await lookAtProcess(identity.pid);
  if (look.state === 'unknown') return 'unknown';
  return look.state === 'alive' && look.start_time === identity.start_time ? 'alive' : 'dead';
}

/**
 * The living processes of ours (all users' for root) that were started with `name=value` in their environment,
 * this process left out. Processes that cannot be read are not ours and are left out too.
 * @throws JackinError `PROCESS_LIST_FAILED`
 */
export async function findProcessesByEnv(name: string, value: string): Promise<ProcessIdentity[]> {
  return (await listProcessesByEnv(name)).find(value);
}

/** One pass over the process list, for as many values as are asked for. @throws JackinError `PROCESS_LIST_FAILED` */
export async function listProcessesByEnv(
  name: string,
): Promise<{ find(value: string): Promise<ProcessIdentity[]> }> {
  const pids = await (LINUX ? pidsByEnviron(name) : pidsByEnvWithPs(name)).catch(listFailed);
  return {
    async find(value) {
      const found: ProcessIdentity[] = [];
      for (const pid of pids.get(value) ?? []) {
        if (pid === process.pid) continue;
        const identity = await identifyProcess(pid).catch(() => null);
        if (identity !== null) found.push(identity);
      }
      return found;
    },
  };
}

function lookAtProcess(pid: number): Promise<ProcessLook> {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid >= 2 ** 31) return Promise.resolve({ state: 'none' });
  return LINUX ? lookInProc(pid) : lookWithPs(pid);
}

async function lookInProc(pid: number): Promise<ProcessLook> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The command name is in parentheses and may itself hold parentheses and spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTime] = [fields[0], fields[19]];
    if (state === undefined || startTime === undefined) {
      return { state: 'unknown', reason: `/proc/${pid}/stat is not understood` };
    }
    return { state: 'ZXx'.includes(state) ? 'zombie' : 'alive', start_time: startTime };
  } catch (error) {
    // /proc can hide other users' processes (hidepid); the kernel still answers for their pid.
    if (['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '') && !pidAnswers(pid)) return { state: 'none' };
    return { state: 'unknown', reason: `/proc/${pid}/stat: ${errorCode(error) ?? String(error)}` };
  }
}

/** Whether any process has this number now, a zombie included: enough to leave alone what may be its own. */
export function pidAnswers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

async function pidsByEnviron(name: string): Promise<Map<string, number[]>> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = new Map<string, number[]>();
  await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      const entry = environ.split('\0').find((one) => one.startsWith(`${name}=`));
      if (entry !== undefined) addTo(found, entry.slice(name.length + 1), pid);
    }),
  );
  return found;
}

function listFailed(error: unknown): never {
  throw new JackinError({
    code: 'PROCESS_LIST_FAILED',
    message: `The processes of this machine cannot be listed: ${error instanceof Error ? error.message : error}.`,
    hint: LINUX ? 'Check that /proc is mounted.' : 'Try: ps -ax',
    cause: error,
  });
}

async function readBootId(): Promise<string> {
  try {
    if (!LINUX) return await sysctlBootId();
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  } catch (error) {
    cachedBootId = undefined;
    throw new JackinError({
      code: 'BOOT_ID_UNKNOWN',
      message: `The identity of this boot cannot be read: ${error instanceof Error ? error.message : error}.`,
      hint: LINUX ? 'Check that /proc is mounted.' : 'Try: sysctl -n kern.bootsessionuuid',
      cause: error,
    });
  }
}

function unknownProcess(pid: number, reason: string): JackinError {
  return new JackinError({
    code: 'PROCESS_UNKNOWN',
    message: `Process ${pid} cannot be looked at: ${reason}.`,
    hint: `Try: ps -p ${pid}`,
    details: { pid },
  });
}
