import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorCode, type JackinPaths, processesWorkingIn, toJackinError } from '@jackin/core';
import type { InstanceStore, IsolationRecord, Manifest } from '@jackin/instance';
import { treeVerdict } from '../decide/tree-verdict.ts';
import type { IsolatedMountFact } from '../facts.ts';
import type { Trees } from '../trees.ts';
import { directoryFact } from './local-facts.ts';

/**
 * How far a look goes into worktrees and clones. `record`: only what is recorded, which is cheap and proves nothing.
 * `assess`: what they hold. `resume`: also what became of the repository they were made from.
 */
export type TreeLook = 'record' | 'assess' | 'resume';

export interface IsolatedFactsDeps {
  store: Pick<InstanceStore, 'readIsolation'>;
  paths: JackinPaths;
  trees: Trees;
}

/**
 * The worktrees and clones of an instance. What was not assessed is `unknown`, and unknown is kept; a record file that
 * cannot be read counts as one unknown mount, and so does every tree that no record names.
 */
export async function isolatedFacts(
  { store, paths, trees }: IsolatedFactsDeps,
  manifest: Pick<Manifest, 'container_base' | 'instance_id'>,
  look: TreeLook,
): Promise<IsolatedMountFact[]> {
  const place = paths.instance(manifest.container_base);
  const isolation = await store.readIsolation(manifest.container_base).catch((error: unknown) => {
    return { state: 'corrupt', reason: toJackinError(error).message } as const;
  });
  switch (isolation.state) {
    case 'absent':
      return unrecordedTrees(place.dir);
    case 'ok': {
      const recorded = isolation.records.map(({ worktree_path }) => worktree_path);
      const [mounts, others] = await Promise.all([
        // One after the other: each takes two processors of a small machine for itself.
        inTurn(isolation.records, (record) =>
          mountFact(trees, record, { siblings: isolation.records, instanceId: manifest.instance_id, look }),
        ),
        treesBesides(place.dir, recorded),
      ]);
      return [...mounts, ...others];
    }
    case 'corrupt':
      return [
        {
          mount_dst: 'isolation.json',
          kind: 'worktree',
          path: place.isolation,
          verdict: 'unknown',
          reason: isolation.reason,
        },
      ];
  }
}

async function mountFact(
  trees: Trees,
  record: IsolationRecord,
  {
    siblings,
    instanceId,
    look,
  }: { siblings: readonly IsolationRecord[]; instanceId: string; look: TreeLook },
): Promise<IsolatedMountFact> {
  const fact = { mount_dst: record.mount_dst, kind: record.isolation, path: record.worktree_path, record };
  const facts = { record, assessment: null, branchCommit: null, users: [] };
  if (record.making === true) {
    const branchCommit = await trees.branchTip(record);
    return { ...fact, branch_commit: branchCommit, ...treeVerdict({ ...facts, branchCommit }) };
  }
  if (look === 'record') return { ...fact, ...treeVerdict(facts) };
  const [assessment, divergence, present, users, planted, branchCommit] = await Promise.all([
    trees.assess(record, siblings),
    look === 'resume' ? trees.divergence(record) : null,
    directoryFact(record.worktree_path),
    processesWorkingIn(record.worktree_path, { name: 'JACKIN_INSTANCE', value: instanceId }),
    trees.planted(record),
    trees.branchTip(record),
  ]);
  const found = { ...fact, present, assessment, divergence, planted, branch_commit: branchCommit };
  return { ...found, ...treeVerdict({ record, assessment, branchCommit, users }) };
}

async function inTurn<T, R>(items: readonly T[], each: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await each(item));
  return results;
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
