import { exitCauseSchema, keepSchema, manifestSchema, recipeSchema, STATUSES } from '@jackin/instance';
import * as z from 'zod';
import { materialisePlanSchema } from './plan-trees.ts';

/**
 * A plan is data: the `--dry-run` output, the text of the confirmation, the `--json` result and the receipt are
 * this one object. The executor takes nothing else.
 */

/** A fact that justified a step, looked at again right before it. The executor stops the plan when it is false. */
export const preconditionSchema = z.discriminatedUnion('fact', [
  /** The manifest still names this instance and has one of these statuses. */
  z.object({ fact: z.literal('status'), in: z.array(z.enum(STATUSES)) }),
  /** The container's state, freshly observed; `unreachable` and `unknown` never satisfy it. */
  z.object({ fact: z.literal('container'), in: z.array(z.enum(['running', 'stopped', 'missing'])) }),
  /** No agent is alive, proven by the capsule or by the container not running. */
  z.object({ fact: z.literal('no_agent_alive') }),
  /** The isolated mounts are assessed again: the verdicts are still these, and so is everything that was found. */
  z.object({
    fact: z.literal('isolated'),
    verdicts: z.record(z.string(), z.enum(['clean', 'dirty', 'unpushed', 'unknown'])),
    /** By destination; a mount that could not be assessed has none. */
    fingerprints: z.record(z.string(), z.string()).optional(),
  }),
  /** Nothing of this name exists yet, or it is ours. */
  z.object({ fact: z.literal('name_free') }),
]);
export type Precondition = z.infer<typeof preconditionSchema>;

const base = {
  id: z.string(),
  /** What the step makes and what it takes away, in words an operator reads. */
  creates: z.array(z.string()).default([]),
  removes: z.array(z.string()).default([]),
  requires: z.array(preconditionSchema).default([]),
};

const step = <Op extends string, Shape extends z.ZodRawShape>(op: Op, shape: Shape) =>
  z.object({ ...base, op: z.literal(op), ...shape });

export const sessionRequestSchema = z.object({
  session_id: z.string(),
  name: z.string(),
  agent: z.string(),
  argv: z.array(z.string()).min(1),
  cwd: z.string(),
  cols: z.number().int(),
  rows: z.number().int(),
});
export type SessionRequest = z.infer<typeof sessionRequestSchema>;

export const stepSchema = z.discriminatedUnion('op', [
  /** Claims the name, makes the directories and writes manifest and index row. */
  step('create_instance', { manifest: manifestSchema }),
  /** Writes status and the facts that go with it to manifest, then index. `null` clears a field. */
  step('record_status', {
    status: z.enum(STATUSES),
    exit_cause: exitCauseSchema.nullable().optional(),
    keep: keepSchema.nullable().optional(),
    last_attach_outcome: z.string().nullable().optional(),
    stop_request: z.object({ nonce: z.string(), at: z.string() }).nullable().optional(),
    /** What the mount records say about each tree from now on, by destination. */
    trees: z.record(z.string(), z.enum(['active', 'preserved_dirty', 'preserved_unpushed'])).optional(),
    /** The engine and its run the container is seen running in now. */
    seen_in: z
      .object({
        endpoint: z.string(),
        id: z.string().nullable(),
        run: z.string(),
        boot_id: z.string().nullable(),
      })
      .optional(),
  }),
  /** The workspace has another name now; what the instance is made of stays. */
  step('record_workspace', { name: z.string(), from: z.string() }),
  step('prepare_socket_dir', {}),
  /** `agent.toml` from the recipe; the capsule key is made at execution. */
  step('write_agent_config', { session: sessionRequestSchema.nullable() }),
  /** Image (build or reuse), network, volume, sidecar, container: whatever is missing. */
  step('create_resources', { recipe: recipeSchema }),
  step('start_container', { recipe: recipeSchema }),
  /** Starts an agent session in the running capsule; secrets are resolved from the recipe's references now. */
  step('start_session', { session: sessionRequestSchema, recipe: recipeSchema }),
  /** Nothing to do: the session is alive and only has to be connected to. */
  step('reconnect', {}),
  /** Orderly stop with our nonce, then by force after the grace time. */
  step('stop_container', { nonce: z.string(), grace_ms: z.number().int() }),
  step('end_leftovers', {}),
  step('rename_container', { to: z.string() }),
  /** `instance_id`: whose keep tag it gets; default: that of this instance. */
  step('pin_image', { image_id: z.string(), instance_id: z.string().optional() }),
  step('remove_container', {}),
  step('remove_sidecar', {}),
  step('remove_network', {}),
  step('remove_volume', {}),
  step('remove_keep_tag', {}),
  /** Worktrees and clones, each recorded before it is made; a failure takes back what was made of it. */
  step('materialise_trees', { trees: z.array(materialisePlanSchema) }),
  /** Git works on these trees inside of the container. */
  step('check_trees', { directories: z.array(z.string()) }),
  /** Links a worktree and its repository again (`git worktree repair`); touches no file of the tree. */
  step('repair_registration', { mount_dst: z.string(), source: z.string().nullable() }),
  /** A worktree whose directory is gone, checked out again from its own branch. */
  step('recreate_tree', { mount_dst: z.string(), branch: z.string(), commit: z.string() }),
  /** One that cannot be removed does not keep the others; it keeps the instance. */
  step('remove_isolated_trees', {
    mounts: z.array(
      z.object({
        mount_dst: z.string(),
        path: z.string(),
        /** Where its branch was when this was decided; moved since, nothing goes. Null: there is none, or it was not seen. */
        branch_commit: z.string().nullable(),
      }),
    ),
  }),
  step('remove_data_dir', {}),
  step('remove_socket_dir', {}),
  step('remove_lock', {}),
  step('remove_index_row', {}),
  step('rebuild_index', {}),
]);
export type Step = z.infer<typeof stepSchema>;
export type StepOp = Step['op'];

/** Steps that take something away. A plan made from an uncertain fact must hold none of them. */
export const REMOVING_OPS: ReadonlySet<StepOp> = new Set([
  'remove_container',
  'remove_sidecar',
  'remove_network',
  'remove_volume',
  'remove_keep_tag',
  'remove_isolated_trees',
  'remove_data_dir',
  'remove_socket_dir',
  'remove_lock',
  'remove_index_row',
]);

export const planSchema = z.object({
  schema_version: z.literal('v1'),
  plan_id: z.string(),
  kind: z.enum(['launch', 'restore', 'stop', 'keep', 'clean', 'eject', 'record', 'reconcile']),
  backend: z.enum(['docker', 'standalone']),
  instance_id: z.string().nullable(),
  container_base: z.string().nullable(),
  /** One sentence for the operator. */
  summary: z.string(),
  /** Restore only: 0 to 3. */
  tier: z.number().int().min(0).max(3).nullable(),
  returns: z.array(z.string()),
  did_not_return: z.array(z.enum(['live_processes', 'agent_process', 'writable_layer', 'sidecar_images'])),
  steps: z.array(stepSchema),
});
export type Plan = z.infer<typeof planSchema>;
export type DidNotReturn = Plan['did_not_return'][number];
