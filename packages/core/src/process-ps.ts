import { type RunResult, runProcess } from './run.ts';

/** What one look at a pid gives. `unknown`: it may exist, but cannot be seen from here. */
export type ProcessLook =
  | { state: 'alive' | 'zombie'; start_time: string }
  | { state: 'none' }
  | { state: 'unknown'; reason: string };

/** Without these, `lstart` follows the caller's language and time zone and would not compare equal later. */
const STABLE = { LC_ALL: 'C', TZ: 'UTC' };
const LIMITS = { timeoutMs: 10_000, env: STABLE };

/** One look at a pid where there is no /proc (macOS). Zombies have a state that starts with Z. */
export async function lookWithPs(pid: number): Promise<ProcessLook> {
  const result = await runProcess('ps', ['-o', 'state=,lstart=', '-p', String(pid)], LIMITS);
  const [state, ...start] = result.stdout.toString('latin1').trim().split(/\s+/);
  if (result.exitCode === 1 && state === '') return { state: 'none' };
  if (result.exitCode !== 0 || state === undefined || start.length === 0) {
    return { state: 'unknown', reason: `ps: ${failureOf(result)}` };
  }
  return { state: state.startsWith('Z') ? 'zombie' : 'alive', start_time: start.join(' ') };
}

/** Value of `name` → pids, from the environment as `ps` appends it to the command. */
export async function pidsByEnvWithPs(
  name: string,
  withEnvironment: string = '-axEww',
): Promise<Map<string, number[]>> {
  const result = await runProcess('ps', [withEnvironment, '-o', 'pid=,command='], {
    ...LIMITS,
    maxOutputBytes: 64 * 1024 * 1024,
  });
  if (result.exitCode !== 0) throw new Error(`ps: ${failureOf(result)}`);
  const found = new Map<string, number[]>();
  for (const line of result.stdout.toString('utf8').split('\n')) {
    const [, value] = ` ${line} `.split(` ${name}=`);
    const pid = Number.parseInt(line, 10);
    if (value !== undefined && pid > 0) addTo(found, value.split(' ', 1)[0] ?? '', pid);
  }
  return found;
}

export function addTo(found: Map<string, number[]>, value: string, pid: number): void {
  const pids = found.get(value);
  if (pids === undefined) found.set(value, [pid]);
  else pids.push(pid);
}

/** macOS: changes with every boot. */
export async function sysctlBootId(): Promise<string> {
  const result = await runProcess('sysctl', ['-n', 'kern.bootsessionuuid'], LIMITS);
  const id = result.stdout.toString('latin1').trim();
  if (result.exitCode !== 0 || id === '') throw new Error(`sysctl: ${failureOf(result)}`);
  return id;
}

function failureOf(result: RunResult): string {
  if (result.failure !== null) return result.failure;
  if (result.timedOut) return 'no answer in time';
  return result.stderr.toString('utf8').trim() || `exit code ${result.exitCode}`;
}
