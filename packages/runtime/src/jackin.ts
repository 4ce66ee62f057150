import type { Duplex } from 'node:stream';
import type { CauseKind, Status } from '@jackin/instance';
import type { Assessment } from '@jackin/isolation';
import type { Finding } from './backend.ts';
import type { MountDocument } from './decide/mount-document.ts';
import type { DidNotReturn, Plan } from './plan.ts';
import type { CandidateRow } from './prompts.ts';

/** `status --json`. */
export interface StatusDocument {
  engine: { endpoint: string; state: 'reachable' | 'unreachable'; run: string | null; reason?: string }[];
  instances: InstanceDocument[];
  corrupt: { path: string; reason: string }[];
  notices: { code: string; message: string }[];
}

export interface InstanceDocument {
  instance_id: string;
  container_base: string;
  workspace: string;
  workdir: string;
  role: string;
  agent: string;
  status: Status;
  cause: CauseKind | null;
  evidence: string[];
  /** running | stopped | missing | foreign | engine unreachable | other engine | launching */
  container: string;
  since: string;
  conversation: 'native' | 'flag' | 'history' | 'none';
  exit_pending: boolean;
  /** An agent is alive in it: yes | no | unknown */
  agent_alive: 'yes' | 'no' | 'unknown';
  backend: 'docker' | 'standalone';
  keep: { intent: string; at: string } | null;
  /** Assessed with `--detail`. */
  isolated: MountDocument[];
  last_screen?: string[];
  sizes?: { data_bytes: number | null; total_bytes: number | null };
}

/** `load --json`. */
export interface LoadDocument {
  instance_id: string;
  container_base: string;
  status: Status;
  tier: number | null;
}

/** `resume --json`. */
export interface ResumeDocument {
  instance_id: string;
  container_base: string;
  tier: 0 | 1 | 2 | 3;
  status: Status;
  cause: CauseKind | null;
  conversation: 'native' | 'flag' | 'history' | 'none';
  returned: string[];
  did_not_return: DidNotReturn[];
  elapsed_ms: number;
}

/** `stop`, `eject`, `purge --json` and the end of an attached session. */
export interface EndDocument {
  instance_id: string;
  container_base: string;
  outcome: 'running' | 'detached' | 'kept' | 'cleaned' | 'ejected' | 'returned' | 'aborted';
  /** null after a clean-up: the instance is gone. */
  status: Status | null;
  cause: CauseKind | null;
  evidence: string[];
  /** Kept although nobody chose it: exit code 4. */
  kept_without_choice: boolean;
  removed: string[];
  kept: string[];
  /** The worktrees and clones as they were when it was decided. */
  isolated: MountDocument[];
  next_commands: string[];
  policy: {
    value: 'ask' | 'keep' | 'clean';
    source: 'flag' | 'workspace' | 'workspace_missing' | 'global' | 'default';
  } | null;
  agent_exit: { code: number | null; signal: string | null } | null;
}

/** `assess --json`: a mount document of a tree that is no mount. */
export interface AssessDocument {
  mount_dst: null;
  kind: Assessment['kind'];
  path: string;
  verdict: Assessment['verdict'];
  reason: string;
  evidence: Assessment['evidence'];
  divergence: null;
  git_processes: number;
}

export interface DoctorDocument {
  findings: Finding[];
}

/** A `--dry-run` of any verb. */
export interface PlanDocument {
  plan: Plan;
}

/** `load` found candidates and nobody can be asked: exit code 3 with these in `details`. */
export interface DecisionNeeded {
  candidates: CandidateRow[];
  commands: string[];
}

/** The attach port: connects a terminal with one session of a capsule until one of these happens. */
export interface Attach {
  run(options: {
    open(signal: AbortSignal): Promise<Duplex>;
    session_id: string | null;
    instance_id: string;
    capsule_key: string;
    prefix: string;
  }): Promise<AttachOutcome>;
}

export type AttachOutcome =
  /** The operator pressed the detach key, or the terminal went away. */
  | { kind: 'detached' }
  | { kind: 'hangup' }
  /** The session's agent ended while we were attached; the capsule waits for the decision on `hold`. */
  | { kind: 'ended'; code: number | null; signal: string | null; oom: boolean; hold: AttachHold }
  /** The connection broke: capsule or engine gone. Never a launch error. */
  | { kind: 'lost'; reason: string };

/** Keeps the capsule waiting (it counts as an attached client) until released. */
export interface AttachHold {
  release(): Promise<void>;
}
