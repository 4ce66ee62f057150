import type { LockOwner, Tri } from '@jackin/core';
import type { IsolationRecord, Manifest } from '@jackin/instance';
import type { Assessment, Divergence, Verdict } from '@jackin/isolation';
import type { CapsuleFact, EngineFact, InstanceObservation, StateFiles } from './backend.ts';

/** Everything known about one instance at one moment: the only input of every decision. */
export interface InstanceFacts {
  instance_id: string;
  container_base: string;
  manifest: Manifest;
  /** The instance's lock as other processes hold it: one this process holds itself reads as free. */
  lock: { state: 'free' } | { state: 'held'; owner: LockOwner } | { state: 'unknown'; reason: string };
  engine: EngineFact;
  /** The engine the instance was made on is the one that answered. */
  engine_matches: Tri;
  /** The engine's run now against the one recorded at the last start. Standalone: boot id, as both. */
  engine_run: 'same' | 'changed' | 'unknown';
  boot: 'same' | 'changed' | 'unknown';
  observation: InstanceObservation;
  capsule: CapsuleFact;
  state_files: StateFiles;
  data_dir: Tri;
  socket_dir: Tri;
  isolated: IsolatedMountFact[];
  /**
   * Another instance, by id, that needs the image whose only name is this one's keep tag: with the tag the engine would
   * take the image away.
   */
  image_heir: string | null;
  /** The agent's exit codes that count as a clean end (`any` for the shell). */
  clean_exit_codes: number[] | 'any';
}

/** The verdict on one worktree or clone. Until it is assessed it is `unknown`, and unknown is kept. */
export interface IsolatedMountFact {
  mount_dst: string;
  kind: 'worktree' | 'clone';
  path: string;
  verdict: Verdict;
  /** Whether anything is at `path`; absent: nobody looked. */
  present?: Tri;
  reason: string;
  /** Null or absent: nobody looked into it for this decision. */
  assessment?: Assessment | null;
  /** What the host's repository has become since; looked at for a resume only. */
  divergence?: Divergence | null;
  /** Where the branch made for a worktree is; null: there is none. Absent: not looked at. */
  branch_commit?: string | null;
  /** Settings of its repository that may run programs and were not there when it was made. */
  planted?: readonly string[];
  /** Null or absent: nothing records the tree. */
  record?: IsolationRecord | null;
}
