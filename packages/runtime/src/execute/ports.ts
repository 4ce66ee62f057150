import type { AgentDefinition } from '@jackin/agents';
import type { SessionInfo } from '@jackin/capsule/protocol';
import type { Clock, EventSink, JackinPaths, Lock } from '@jackin/core';
import type { InstanceStore, Manifest } from '@jackin/instance';
import type { Backend, InstanceRef } from '../backend.ts';
import type { InstanceFacts } from '../facts.ts';
import type { CapsuleAccess } from '../observe/capsule-access.ts';
import type { TreeLook } from '../observe/isolated-facts.ts';
import type { Plan, Step, StepOp } from '../plan.ts';
import type { Trees } from '../trees.ts';

/** Everything the executor may touch. What to do comes from the plan alone. */
export interface ExecutorPorts {
  store: InstanceStore;
  paths: JackinPaths;
  backends: ReadonlyMap<Backend['kind'], Backend>;
  events: EventSink;
  clock: Clock;
  /**
   * A fresh look at one instance. `manifest` stands in where none is on disk yet, or no longer. Null: there is
   * neither.
   */
  observeOne(base: string, manifest?: Manifest, trees?: TreeLook): Promise<InstanceFacts | null>;
  /** Worktrees and clones on this host. */
  trees: Trees;
  /** The lock the caller holds for this plan; checked before every step. Null: the plan needs none. */
  lock: Lock | null;
  /** References to values, at the moment the session starts. Throws ENV_UNRESOLVED naming the variable. */
  resolveEnv(references: { name: string; source: string }[]): Promise<Record<string, string>>;
  capsule: CapsuleAccess;
  /** The agents known here, with those of the configuration; default: the built-in ones. */
  agents?: readonly AgentDefinition[];
  /** The host's environment; only a short list of names of it reaches a standalone session. */
  hostEnv: NodeJS.ProcessEnv;
  /** Upper limit of every outside call's own bound, in milliseconds. */
  callMs?: number;
  /** Aborts between steps and inside outside calls. */
  signal?: AbortSignal;
}

/** What was done: the plan's own steps with their outcome. Printed, and returned by `--json`. */
export interface ExecutionReceipt {
  plan_id: string;
  kind: Plan['kind'];
  instance_id: string | null;
  container_base: string | null;
  steps: ExecutedStep[];
  created: string[];
  removed: string[];
  /** The session that was started or found alive. */
  session: SessionInfo | null;
}

export interface ExecutedStep {
  id: string;
  op: StepOp;
  /** `skipped`: its effect was there already. */
  state: 'done' | 'skipped';
  detail: string | null;
}

/** What a handler tells the executor. `created`/`removed` default to the step's own words when it is done. */
export interface StepOutcome {
  state: 'done' | 'skipped';
  detail?: string;
  created?: string[];
  removed?: string[];
  session?: SessionInfo;
}

/** One step's view of the world. */
export interface StepContext {
  plan: Plan;
  ports: ExecutorPorts;
  base: string;
  instanceId: string;
  backend: Backend;
  /** The manifest on disk; without one the last one seen in this plan. INSTANCE_NOT_FOUND when there never was one. */
  ref(): Promise<InstanceRef>;
  /** Fresh facts of this instance. */
  facts(trees?: TreeLook): Promise<InstanceFacts | null>;
  /** The lock was given back by a step: the following ones run without it. */
  lockReleased(): void;
}

export type Handler<Op extends StepOp> = (
  step: Extract<Step, { op: Op }>,
  context: StepContext,
) => Promise<StepOutcome>;

export type HandlerTable = { readonly [Op in StepOp]: Handler<Op> };
