import type { WorkingProcess } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import type { Assessment } from '@jackin/isolation';
import type { IsolatedMountFact } from '../facts.ts';

/** What was seen of a recorded tree. */
export interface TreeSeen {
  record: Pick<IsolationRecord, 'base_commit' | 'making'>;
  /** Null: nobody looked into it. */
  assessment: Assessment | null;
  /** Where its branch is; null when there is none. */
  branchCommit: string | null;
  /** Processes of this host that work in it. */
  users: readonly WorkingProcess[];
}

/** The verdict on a recorded tree (docs/isolation.md#verdicts). Pure. */
export function treeVerdict(seen: TreeSeen): Pick<IsolatedMountFact, 'verdict' | 'reason'> {
  const { record, assessment, branchCommit, users } = seen;
  if (record.making === true) {
    // A branch that is not where it was made says that somebody has worked all the same.
    const moved = branchCommit !== null && branchCommit !== record.base_commit;
    return moved ? { verdict: 'unknown', reason: MOVED } : { verdict: 'clean', reason: NEVER_FINISHED };
  }
  if (assessment === null) return { verdict: 'unknown', reason: 'the tree has not been assessed' };
  const [user] = users;
  if (user === undefined) return { verdict: assessment.verdict, reason: assessment.reason };
  // Whoever works there may write the next moment, so what was found proves nothing.
  const who = `process ${user.pid} (${user.name}) works in it`;
  return { verdict: 'unknown', reason: `${who}; found: ${assessment.reason}` };
}

const NEVER_FINISHED = 'its launch was interrupted before it was finished; no agent has worked in it';
const MOVED = 'its launch was interrupted, and its branch has moved since';
