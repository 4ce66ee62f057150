import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type RunOptions, type RunResult, runProcess } from '@jackin/core';
import { alone } from './alone.ts';

export type Availability = { ok: true } | { ok: false; reason: string };

/** Programs the lab runs, and the Debian package each comes from. */
const PACKAGES = {
  dockerd: 'docker.io',
  containerd: 'containerd',
  iptables: 'iptables',
  ip: 'iproute2',
  tar: 'tar',
  debootstrap: 'debootstrap',
  busybox: 'busybox-static',
} as const;
export type Program = keyof typeof PACKAGES;

/** What an engine needs. */
export const ENGINE_PROGRAMS: readonly Program[] = ['dockerd', 'containerd', 'iptables', 'ip', 'tar'];
const INSTALL_MS = 300_000;
/** The administrator's directories are not on every operator's PATH, and dockerd itself looks for iptables there. */
const SEARCH_PATH = [process.env.PATH ?? '', '/usr/local/sbin', '/usr/sbin', '/sbin'].join(delimiter);

/** Whether this machine can run a private engine, as it is or after an installation that is allowed. */
export function machineAvailability(programs: readonly Program[]): Availability {
  if (process.platform !== 'linux') return { ok: false, reason: 'a private engine needs Linux' };
  if (process.getuid?.() !== 0) return { ok: false, reason: 'a private engine needs root' };
  const packages = missingPackages(programs);
  if (packages.length === 0 || mayInstall()) return { ok: true };
  return { ok: false, reason: notInstalled(packages) };
}

/** Installs what is missing, where that is allowed. @throws Error when something is missing that may not be installed. */
export async function provide(programs: readonly Program[]): Promise<void> {
  const packages = missingPackages(programs);
  if (packages.length === 0) return;
  if (!mayInstall()) throw new Error(`The Docker lab cannot do this: ${notInstalled(packages)}`);
  await alone('packages', async () => {
    const stillMissing = missingPackages(programs);
    if (stillMissing.length === 0) return;
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-q'], { timeoutMs: INSTALL_MS, env });
    const options = ['-o', 'DPkg::Lock::Timeout=120', '-y', '-q', '--no-install-recommends'];
    await run('apt-get', ['install', ...options, ...stillMissing], { timeoutMs: INSTALL_MS, env });
  });
}

/** Where `program` is, or null. */
export function find(program: string): string | null {
  const places = SEARCH_PATH.split(delimiter).map((dir) => join(dir, program));
  return places.find((place) => existsSync(place)) ?? null;
}

/** Runs a program of this machine. @throws Error with the end of its output unless it exits with 0. */
export async function run(program: string, args: string[], options: RunOptions): Promise<RunResult> {
  const result = await attempt(program, args, options);
  if (result.exitCode === 0) return result;
  const output = `${result.stdout}\n${result.stderr}`.trim().slice(-1_500);
  const end = result.timedOut ? `not done after ${options.timeoutMs} ms` : `exit code ${result.exitCode}`;
  throw new Error(`${program} ${args.join(' ')}: ${result.failure ?? end}\n${output}`);
}

/** Like `run`, but the failure comes back as a value. */
export function attempt(program: string, args: string[], options: RunOptions): Promise<RunResult> {
  return runProcess(find(program) ?? program, args, { ...options, env: machineEnv(options.env) });
}

/** The environment of a program of this machine. */
export function machineEnv(extra: Record<string, string> = {}): Record<string, string> {
  return { PATH: SEARCH_PATH, LC_ALL: 'C', ...extra };
}

function missingPackages(programs: readonly Program[]): string[] {
  return programs.filter((program) => find(program) === null).map((program) => PACKAGES[program]);
}

function notInstalled(packages: string[]): string {
  return `not installed: ${packages.join(', ')} (as root on Debian with CI=true they would be)`;
}

function mayInstall(): boolean {
  const allowed = process.env.CI === 'true' && process.getuid?.() === 0;
  return allowed && find('apt-get') !== null && existsSync('/etc/debian_version');
}
