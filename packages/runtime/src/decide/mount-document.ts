import type { Divergence, Evidence } from '@jackin/isolation';
import type { IsolatedMountFact } from '../facts.ts';

/** A worktree or clone in a document (docs/isolation.md#evidence): one form for `status`, ends, plans and errors. */
export interface MountDocument {
  mount_dst: string;
  kind: 'worktree' | 'clone';
  path: string;
  verdict: IsolatedMountFact['verdict'];
  reason: string;
  /** Null: nobody could look, or nobody looked for this document (`status` without `--detail`). */
  evidence: Evidence | null;
  /** Settings of its repository that may run programs and were not there when the tree was made. */
  planted: string[];
  /** What the repository has become since; only where a resume is about. */
  divergence: Divergence | null;
}

/** Two looks with the same one found the same in the tree and on its branch; null: nobody looked. */
export function fingerprintOf({ assessment, branch_commit: tip }: IsolatedMountFact): string | null {
  if (assessment == null) return null;
  return tip == null ? assessment.fingerprint : `${assessment.fingerprint}@${tip}`;
}

export function mountDocument(mount: IsolatedMountFact): MountDocument {
  const { mount_dst, kind, path, verdict, reason, assessment, divergence, planted = [] } = mount;
  const evidence = assessment?.evidence ?? null;
  const rest = { planted: [...planted], divergence: divergence ?? null };
  return { mount_dst, kind, path, verdict, reason, evidence, ...rest };
}
