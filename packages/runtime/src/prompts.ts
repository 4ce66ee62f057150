/** Every question jackin can ask. The rich and the plain renderer implement it over the same view models. */
export interface Prompts {
  /** Is there a terminal on which somebody can be asked? */
  readonly available: boolean;
  /** Screen A: unfinished work must be acknowledged. */
  acknowledgeUnfinished(view: UnfinishedView): Promise<'continue' | 'abort'>;
  /** Screen B: how to end this session. */
  chooseEnd(view: EndView): Promise<'return' | 'keep' | 'clean' | 'abort'>;
  /** Screen C: resume or start new. */
  chooseSession(view: SessionChoiceView): Promise<SessionChoice>;
  /** Screen D: what is about to be used again must be seen. `back`: nothing was changed. */
  verifyPreserved(view: PreservedView): Promise<'resume' | 'back'>;
  /** A destructive command's confirmation: the plan's own words. */
  confirm(view: ConfirmView): Promise<boolean>;
  /** Which of several instances is meant. */
  chooseInstance(view: { title: string; rows: CandidateRow[] }): Promise<string | null>;
}

export interface SessionIdentityView {
  role: string;
  agent: string;
  workspace: string;
  container_base: string;
}

export interface UnfinishedView {
  session: SessionIdentityView;
  mounts: MountView[];
}

export interface MountView {
  kind: 'worktree' | 'clone';
  mount_dst: string;
  verdict: string;
  /** What is in it, in full. */
  lines: string[];
}

export interface PreservedView {
  session: SessionIdentityView;
  mounts: MountView[];
  /** What became of the repositories, and what will be repaired. */
  notes: string[];
  /** What a resume cannot bring back. */
  cannot_return: string[];
}

export interface EndView {
  session: SessionIdentityView;
  headline: string;
  /** What clean-up would remove. */
  removes: string[];
}

export interface CandidateRow {
  instance_id: string;
  container_base: string;
  /** e.g. `2h ago` */
  age: string;
  /** e.g. `interrupted by host loss` */
  what: string;
  /** e.g. `ready` */
  readiness: string;
  /** An ended session whose exit flow is still pending can be finished from the list. */
  exit_pending: boolean;
}

export interface SessionChoiceView {
  session: Omit<SessionIdentityView, 'container_base'>;
  candidates: CandidateRow[];
}

export type SessionChoice =
  | { choice: 'new' }
  | { choice: 'resume'; instance_id: string }
  | { choice: 'finish'; instance_id: string }
  | { choice: 'abort' };

export interface ConfirmView {
  title: string;
  removes: string[];
  warnings: string[];
  /** Not a plain yes: this word has to be typed. */
  mustType?: string;
}
