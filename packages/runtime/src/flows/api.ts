import type {
  AssessDocument,
  DoctorDocument,
  EndDocument,
  LoadDocument,
  PlanDocument,
  ResumeDocument,
  StatusDocument,
} from '../jackin.ts';
import type { ConfigVerbs, RoleVerbs, VariableVerbs, WorkspaceVerbs } from './configuration/api.ts';
import type { ConfigurationResult } from './configuration/documents.ts';

/** A one-shot exit policy from the command line; it beats the configured ones and is never written back. */
export type PolicyFlag = 'keep' | 'clean' | null;

/** `jackin load`. */
export interface LoadRequest {
  role: string | null;
  /** Of the role's repository; null or absent: its own default branch. */
  roleBranch?: string | null;
  /** Workspace name, `path`, or `path:dst`; null means the current directory. */
  target: string | null;
  agent: string | null;
  /** `new`: never ask. `newest`: resume the newest candidate. An id: resume that one. null: ask when there is a choice. */
  session: 'new' | 'newest' | { instance: string } | null;
  policy: PolicyFlag;
  detach: boolean;
  /** `path[:ro]` or `src:dst[:ro]`. */
  mounts: string[];
  /** `DST=KIND` */
  mountIsolation: string[];
  limits: { memory_bytes?: number; cpus?: number; pids?: number };
  backend: 'docker' | 'standalone' | null;
  /** What followed `--`: the shell runs it, other agents get it as extra arguments. */
  command: string[];
  acceptLoss: boolean;
  allowDrift: boolean;
  /** Mount what holds credentials without being asked. */
  force: boolean;
  dryRun: boolean;
}

export interface ResumeRequest {
  instance: string;
  policy: PolicyFlag;
  detach: boolean;
  acceptLoss: boolean;
  allowDrift: boolean;
  /** Where the repository of its worktree is now, when it was moved. */
  source?: string | null;
  dryRun: boolean;
}

export interface HardlineRequest {
  instance: string | null;
  /** `attach` to the newest session, start a `new` agent session or a `shell`, or only `inspect`. */
  mode: 'attach' | 'new' | 'shell' | 'inspect';
  policy: PolicyFlag;
}

export interface StatusRequest {
  instance: string | null;
  detail: boolean;
  sizes: boolean;
}

export interface StopRequest {
  instance: string;
  policy: PolicyFlag;
  dryRun: boolean;
}

export interface EjectRequest {
  instance: string;
  dryRun: boolean;
}

export interface PurgeRequest {
  instance: string;
  /** The confirmation is given. */
  yes: boolean;
  /** Work at risk may go too; never work that could not be looked at. */
  force: boolean;
  dryRun: boolean;
}

export interface AssessRequest {
  path: string;
  /** Commit id the tree started from; null: what is on no remote counts. */
  base: string | null;
}

export interface ExileRequest {
  yes: boolean;
  dryRun: boolean;
}

/** `resume --all`: one entry per interrupted instance, and how many came back. */
export interface ResumeAllDocument {
  resumed: ResumeDocument[];
  failed: {
    instance_id: string;
    container_base: string;
    error: { code: string; message: string; hint: string | null };
  }[];
}

export interface ExileDocument {
  ejected: EndDocument[];
  failed: ResumeAllDocument['failed'];
}

/** Several plans of one command (`exile`, `resume --all`), each as its own document, and what could not be planned. */
export interface PlansDocument {
  plans: PlanDocument['plan'][];
  failed: ResumeAllDocument['failed'];
}

/** What a verb about sessions hands back. */
export type SessionResult =
  | { kind: 'load'; document: LoadDocument; exitCode: 0 }
  | { kind: 'resume'; document: ResumeDocument; exitCode: 0 }
  | { kind: 'resume_all'; document: ResumeAllDocument; exitCode: 0 | 1 }
  | { kind: 'end'; document: EndDocument; exitCode: 0 | 4 }
  | { kind: 'exile'; document: ExileDocument; exitCode: 0 | 1 }
  | { kind: 'status'; document: StatusDocument; exitCode: 0 | 1 }
  | { kind: 'assess'; document: AssessDocument; exitCode: 0 }
  | { kind: 'doctor'; document: DoctorDocument; exitCode: 0 | 1 }
  | { kind: 'plan'; document: PlanDocument; exitCode: 0 }
  | { kind: 'plans'; document: PlansDocument; exitCode: 0 | 1 }
  | { kind: 'cancelled'; document: { cancelled: true }; exitCode: 0 };

/** What a verb hands back: which document, and the exit code that follows from it (docs/errors.md). */
export type FlowResult = SessionResult | ConfigurationResult;

/** The library's door: every verb of the command line, without the command line. */
export interface Jackin {
  load(request: LoadRequest): Promise<FlowResult>;
  resume(request: ResumeRequest): Promise<FlowResult>;
  resumeAll(request: Omit<ResumeRequest, 'instance' | 'detach' | 'policy'>): Promise<FlowResult>;
  hardline(request: HardlineRequest): Promise<FlowResult>;
  status(request: StatusRequest): Promise<FlowResult>;
  stop(request: StopRequest): Promise<FlowResult>;
  eject(request: EjectRequest): Promise<FlowResult>;
  purge(request: PurgeRequest): Promise<FlowResult>;
  exile(request: ExileRequest): Promise<FlowResult>;
  assess(request: AssessRequest): Promise<FlowResult>;
  doctor(): Promise<FlowResult>;
  workspaces: WorkspaceVerbs;
  variables: VariableVerbs;
  settings: ConfigVerbs;
  roles: RoleVerbs;
}
