import { lstat, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { AgentDefinition } from '@jackin/agents';
import { readStateFiles } from '@jackin/capsule/client';
import { errorCode, inspectLock, type JackinPaths, ownIdentity, type Tri, toJackinError } from '@jackin/core';
import type { InstanceStore, Manifest } from '@jackin/instance';
import type { StateFiles } from '../backend.ts';
import type { InstanceFacts, IsolatedMountFact } from '../facts.ts';
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
 * Worktrees and clones of an instance. Their work is not assessed here, so every verdict is `unknown`, and unknown is
 * kept; a record file that cannot be read counts as one unknown mount, and so does every tree that no record names.
 */
export async function isolatedFacts(
  store: InstanceStore,
  paths: JackinPaths,
  base: string,
): Promise<IsolatedMountFact[]> {
  const isolation = await store.readIsolation(base).catch((error: unknown) => {
    return { state: 'corrupt', reason: toJackinError(error).message } as const;
  });
  switch (isolation.state) {
    case 'absent':
      return unrecordedTrees(paths.instance(base).dir);
    case 'ok':
      return [
        ...isolation.records.map((record) => ({
          mount_dst: record.mount_dst,
          kind: record.isolation,
          path: record.worktree_path,
          verdict: 'unknown' as const,
          reason: 'the tree has not been assessed',
        })),
        ...(await treesBesides(
          paths.instance(base).dir,
          isolation.records.map((record) => record.worktree_path),
        )),
      ];
    case 'corrupt':
      return [
        {
          mount_dst: 'isolation.json',
          kind: 'worktree',
          path: paths.instance(base).isolation,
          verdict: 'unknown',
          reason: isolation.reason,
        },
      ];
  }
}

/** Trees that lie where worktrees and clones do (docs/storage.md), though nothing records them. */
async function unrecordedTrees(dataDir: string): Promise<IsolatedMountFact[]> {
  const found: IsolatedMountFact[] = [];
  for (const kind of ['worktree', 'clone'] as const) {
    const path = join(dataDir, 'git', kind);
    const reason = await treesIn(path);
    if (reason !== null) found.push({ mount_dst: `git/${kind}`, kind, path, verdict: 'unknown', reason });
  }
  return found;
}

/** The same where records are: what lies there and is neither a recorded tree nor the way to one. */
async function treesBesides(dataDir: string, recorded: readonly string[]): Promise<IsolatedMountFact[]> {
  const found: IsolatedMountFact[] = [];
  const look = async (kind: 'worktree' | 'clone', name: string): Promise<void> => {
    const path = join(dataDir, name);
    try {
      for (const entry of await readdir(path)) {
        const below = join(path, entry);
        if (recorded.includes(below)) continue;
        const inside = `${name}/${entry}`;
        if (recorded.some((tree) => tree.startsWith(below + sep))) await look(kind, inside);
        else found.push({ mount_dst: inside, kind, path: below, verdict: 'unknown', reason: UNRECORDED });
      }
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      found.push({ mount_dst: name, kind, path, verdict: 'unknown', reason: notSeen(error) });
    }
  };
  for (const kind of ['worktree', 'clone'] as const) await look(kind, `git/${kind}`);
  return found;
}

const UNRECORDED = 'there is a tree, and nothing records what it is';

function notSeen(error: unknown): string {
  return `it cannot be looked at: ${toJackinError(error).message}`;
}

/** Null when there is provably nothing. */
async function treesIn(path: string): Promise<string | null> {
  try {
    return (await readdir(path)).length === 0 ? null : UNRECORDED;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? null : notSeen(error);
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
