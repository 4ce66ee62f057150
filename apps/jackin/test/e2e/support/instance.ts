import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, findProcessesByEnv, type ProcessIdentity, processState } from '@jackin/core';
import { expect } from '@jest/globals';
import { eventually, type Sandbox } from './sandbox.ts';

export interface Instance {
  id: string;
  base: string;
}

export function processesOf(id: string): Promise<ProcessIdentity[]> {
  return findProcessesByEnv('JACKIN_INSTANCE', id);
}

/** SIGKILL to the capsule and everything of it; resolves when all of them are dead. */
export async function killInstance({ id }: Instance): Promise<void> {
  const killed = await processesOf(id);
  for (const { pid } of killed) killQuietly(pid);
  await eventually(`the processes of ${id} are dead`, async () => {
    // A process that is about to end has no environment any more, so its identity has to tell.
    const states = await Promise.all(killed.map(processState));
    return states.every((state) => state === 'dead') && (await processesOf(id)).length === 0;
  });
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // One that was ended by the end of another.
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** A file of the session that must come back. */
export function writeNotes(sandbox: Sandbox, instance: Instance): void {
  writeFileSync(notesOf(sandbox, instance), `notes of ${instance.id}`);
}

export function hasNotes(sandbox: Sandbox, instance: Instance): boolean {
  const path = notesOf(sandbox, instance);
  return existsSync(path) && readFileSync(path, 'utf8') === `notes of ${instance.id}`;
}

function notesOf(sandbox: Sandbox, { base }: Instance): string {
  return join(sandbox.state, 'data', base, 'home/notes');
}

export function instanceLock(sandbox: Sandbox, { base }: Instance): string {
  return join(sandbox.state, 'data', `${base}.lock`);
}

/** The base names of the index. */
function indexed(sandbox: Sandbox): string[] {
  const { instances } = JSON.parse(readFileSync(join(sandbox.state, 'data/instances.json'), 'utf8'));
  return instances.map((row: { container_base: string }) => row.container_base);
}

/** What `status` says, which never fails here. */
export async function statusDocument(sandbox: Sandbox): Promise<Record<string, any>> {
  const { code, stdout, stderr } = await sandbox.jackin(['status', '--json']);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout, stderr: expect.not.stringMatching(/ {4}at /) });
  return JSON.parse(stdout).data;
}

/** The instance as `status` shows it; null when it is not listed. */
export async function statusOf(sandbox: Sandbox, { id }: Instance): Promise<Record<string, any> | null> {
  const { instances } = await statusDocument(sandbox);
  return instances.find((row: { instance_id: string }) => row.instance_id === id) ?? null;
}

/** A killed one goes faster, and a purge is not what those who call this are about. */
export async function remove(sandbox: Sandbox, instance: Instance): Promise<void> {
  await killInstance(instance);
  const { code, stdout } = await sandbox.jackin(['purge', instance.id, '--yes', '--json']);
  expect({ code, stdout }).toEqual({ code: 0, stdout });
  expect(await sandbox.traces(instance)).toEqual([]);
}

/** Beyond these instances there is nothing but the index, its lock and the guard, which stay. */
export function expectOnly(sandbox: Sandbox, instances: Instance[]): void {
  const bases = instances.map(({ base }) => base);
  const entries = ['data', 'sockets'].flatMap((dir) =>
    existsSync(join(sandbox.state, dir))
      ? readdirSync(join(sandbox.state, dir)).map((name) => `${dir}/${name}`)
      : [],
  );
  const common = ['data/instances.json', 'data/instances.json.lock', 'data/locks.db'];
  const own = bases.flatMap((base) => [`data/${base}`, `data/${base}.lock`, `sockets/${base}`]);
  expect(entries.sort()).toEqual([...common, ...own].sort());
  expect(indexed(sandbox).sort()).toEqual(bases.sort());
}

export function expectNothingLeft(sandbox: Sandbox): void {
  expectOnly(sandbox, []);
}

export function loadArgs(sandbox: Sandbox, ...extra: string[]): string[] {
  const target = ['load', 'shell', sandbox.project, '--agent', 'shell', '--backend', 'standalone'];
  return [...target, '--detach', '--json', ...extra];
}
