import { lstat } from 'node:fs/promises';
import type { AgentDefinition } from '@jackin/agents';
import { readStateFiles } from '@jackin/capsule/client';
import { inspectLock, type JackinPaths, ownIdentity, type Tri, toJackinError } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import type { StateFiles } from '../backend.ts';
import type { InstanceFacts } from '../facts.ts';
import { bounded } from './bounded.ts';

/** Yes: a directory. No: nothing there. Unknown: could not look, or something else sits there. */
export async function directoryFact(path: string): Promise<Tri> {
  try {
    return (await lstat(path)).isDirectory() ? 'yes' : 'unknown';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no' : 'unknown';
  }
}

/** The instance lock without touching it. A lock that this very process holds is free for its own decisions. */
export async function lockFact(paths: JackinPaths, base: string): Promise<InstanceFacts['lock']> {
  try {
    const lock = await inspectLock(paths.instance(base).lock);
    if (lock.state !== 'held') return lock;
    const own = await ownIdentity();
    const { owner } = lock;
    const ours =
      owner.pid === own.pid && owner.start_time === own.start_time && owner.boot_id === own.boot_id;
    return ours ? { state: 'free' } : lock;
  } catch (error) {
    return { state: 'unknown', reason: toJackinError(error).message };
  }
}

/** The capsule's exit record and heartbeat, or why they cannot be read. Bounded: the directory is hostile ground. */
export async function stateFilesFact(
  stateDir: string,
  instanceId: string,
  timeoutMs: number,
): Promise<StateFiles> {
  try {
    return await bounded('Reading the capsule state', timeoutMs, undefined, () =>
      readStateFiles(stateDir, instanceId),
    );
  } catch (error) {
    const unreadable = { state: 'unreadable', reason: toJackinError(error).message } as const;
    return { exit_record: unreadable, heartbeat: unreadable };
  }
}

/**
 * The exit codes that are a clean end: those of the instance's own agent, plain 0 when it is not known. The exit record
 * names an agent too, but it is untrusted: it must not choose the list it is judged by.
 */
export function cleanExitCodes(manifest: Manifest, agents: readonly AgentDefinition[]): number[] | 'any' {
  const codes = agents.find((agent) => agent.id === manifest.agent_runtime)?.cleanExitCodes ?? [0];
  return codes === 'any' ? codes : [...codes];
}
