import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { attempt, run } from './machine.ts';

const COMMAND_MS = 30_000;
const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

/** The name of everything of lab `number` that is visible on the whole machine. */
export function labName(number: number): string {
  return `jkl-${number}`;
}

/** Whether this machine already uses addresses of lab `number`, which are those of 10.number.0.0/16. */
export function addressesTaken(number: number): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return addresses.some(({ address }) => address.startsWith(`10.${number}.`));
}

/** What the engine is told about its addresses. `networks` is the size of the pool, a power of two. */
export function networkArguments(number: number, networks: number): Record<string, string> {
  return {
    bip: `10.${number}.64.1/24`,
    // Every network gets 64 addresses.
    'default-address-pool': `base=10.${number}.128.0/${26 - Math.log2(networks)},size=26`,
    // What runs on this machine is reached here, as it is from any container: by the name `host-gateway`.
    'host-gateway-ip': hostEnd(number),
  };
}

/** The file by which the network namespace of the engine in `dir` is entered. */
export function namespaceFile(dir: string): string {
  return join(dir, 'netns');
}

/**
 * Gives the engine in `dir` a network of its own, unless it has one: engines that share one rewrite each other's packet
 * filter while they start. A cable leads out of it, and what comes through is forwarded.
 */
export async function createNetwork(dir: string, number: number): Promise<void> {
  const file = namespaceFile(dir);
  if (existsSync(file)) return;
  await writeFile(file, '');
  await command('unshare', `--net=${file}`, 'true');
  const inside = (...args: string[]) => command('nsenter', `--net=${file}`, 'ip', ...args);
  const name = labName(number);
  // The end out here goes to the namespace of this very process.
  await inside('link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', name, 'netns', String(process.pid));
  await inside('addr', 'add', `${engineEnd(number)}/30`, 'dev', 'eth0');
  await command('ip', 'addr', 'add', `${hostEnd(number)}/30`, 'dev', name);
  await command('ip', 'link', 'set', name, 'up');
  for (const device of ['lo', 'eth0']) await inside('link', 'set', device, 'up');
  await inside('route', 'add', 'default', 'via', hostEnd(number));
  for (const rule of forwarding(number))
    await command('iptables', '--wait', '-t', rule.table, '-I', ...rule.words);
  if ((await readFile(FORWARDING, 'utf8')).trim() === '0') await writeFile(FORWARDING, '1');
}

/** Removes what is visible of that network outside of it. The namespace itself goes with its mount. */
export async function removeNetwork(number: number): Promise<void> {
  for (const rule of forwarding(number))
    await attempt('iptables', ['--wait', '-t', rule.table, '-D', ...rule.words], { timeoutMs: COMMAND_MS });
  await attempt('ip', ['link', 'delete', labName(number)], { timeoutMs: COMMAND_MS });
}

function forwarding(number: number): { table: string; words: string[] }[] {
  const name = labName(number);
  return [
    { table: 'filter', words: ['FORWARD', '-i', name, '-j', 'ACCEPT'] },
    { table: 'filter', words: ['FORWARD', '-o', name, '-j', 'ACCEPT'] },
    { table: 'nat', words: ['POSTROUTING', '-s', engineEnd(number), '!', '-o', name, '-j', 'MASQUERADE'] },
  ];
}

function hostEnd(number: number): string {
  return `10.${number}.0.1`;
}

function engineEnd(number: number): string {
  return `10.${number}.0.2`;
}

function command(program: string, ...args: string[]) {
  return run(program, args, { timeoutMs: COMMAND_MS });
}
