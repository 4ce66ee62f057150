import { JackinError, toJackinError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import type { MaterialisePlan } from '@jackin/isolation';
import type { ProbeAnswer } from '../backend.ts';
import { capsuleOwner } from '../decide/container-user.ts';
import { outside } from './context.ts';
import { mountedTrees } from './mounted-trees.ts';
import type { Handler, StepContext } from './ports.ts';

const CHECK_MS = 90_000;

/**
 * Worktrees and clones with their registrations and scratch branches. Each is tried, whatever becomes of the others; the
 * record of one that could not be removed stays (docs/isolation.md#removal). What no record names lies in the data
 * directory and goes with it.
 * @throws JackinError TREE_REMOVAL_FAILED naming each one and why, or the only failure itself
 */
export const removeIsolatedTrees: Handler<'remove_isolated_trees'> = async (step, context) => {
  const records = await recordsOf(context);
  const wanted = new Map(step.mounts.map(({ mount_dst, branch_commit }) => [mount_dst, branch_commit]));
  const removed: string[] = [];
  const failed: { mount_dst: string; error: JackinError }[] = [];
  for (const record of records.filter(({ mount_dst }) => wanted.has(mount_dst))) {
    try {
      requireInside(context, record);
      const removal = await context.ports.trees.remove(record, wanted.get(record.mount_dst) ?? null);
      removed.push(...removal.removed);
      for (const message of removal.notices) tell(context, 'info', message);
      await forget(context, record);
    } catch (thrown) {
      failed.push({ mount_dst: record.mount_dst, error: toJackinError(thrown) });
    }
  }
  if (failed.length > 0) throw removalFailed(context.base, failed, removed);
  return removed.length > 0
    ? { state: 'done', removed }
    : { state: 'skipped', detail: 'they are gone already' };
};

/**
 * Each tree is recorded before it is made, so that a launch that is killed meanwhile leaves nothing nobody knows of. What
 * a failure leaves is recorded still; otherwise the record goes with it.
 * @throws JackinError what a tree could not be made for (docs/errors.md#worktrees-and-clones)
 */
export const materialiseTrees: Handler<'materialise_trees'> = async (step, context) => {
  const { ports, base } = context;
  const known = await recordsOf(context);
  const { manifest } = await context.ref();
  const created: string[] = [];
  for (const plan of step.trees) {
    if (known.some(({ mount_dst, making }) => mount_dst === plan.dst && making !== true)) continue;
    await remember(context, unfinished(plan));
    try {
      const { record, notices } = await ports.trees.materialise(plan, capsuleOwner(manifest));
      await remember(context, record);
      // Those of the plan were told before it began.
      for (const message of notices.filter((notice) => !plan.notices.includes(notice))) {
        tell(context, 'warn', message);
      }
      created.push(`${plan.kind} ${plan.dst} at ${plan.tree}`);
    } catch (thrown) {
      const error = toJackinError(thrown);
      const left = error.details.left;
      if (!Array.isArray(left) || left.length === 0) await forget(context, unfinished(plan));
      throw thrown;
    }
  }
  if (created.length === 0) return { state: 'skipped', detail: `${base} has them already` };
  return { state: 'done', created };
};

/** What is known of a tree before it is there. */
function unfinished(plan: MaterialisePlan): IsolationRecord {
  return {
    workspace: plan.workspace,
    mount_dst: plan.dst,
    original_src: plan.src,
    isolation: plan.kind,
    worktree_path: plan.tree,
    scratch_branch: plan.scratch?.name ?? plan.host_branch ?? '',
    base_commit: plan.base_commit,
    selector_key: plan.selector_key,
    container_name: plan.container,
    cleanup_status: 'active',
    ...(plan.kind === 'worktree' ? { git_common_dir: plan.common_dir } : {}),
    making: true,
  };
}

function remember({ ports, base }: StepContext, record: IsolationRecord): Promise<void> {
  return ports.store.changeIsolation(base, (records) => [
    ...records.filter(({ mount_dst }) => mount_dst !== record.mount_dst),
    record,
  ]);
}

/**
 * `git status` inside, before an agent starts there: a tree git does not work on is found now and not by the agent.
 * @throws JackinError GIT_NOT_IN_IMAGE, GIT_INSIDE_FAILED with git's words
 */
export const checkTrees: Handler<'check_trees'> = async ({ directories }, context) => {
  const ref = await context.ref();
  const { recipe } = ref.manifest;
  const env = recipe === undefined ? {} : (await mountedTrees(context, recipe)).env;
  for (const cwd of directories) {
    const argv = ['git', 'status', '--porcelain', '--untracked-files=no'];
    const answer = await outside(context, `Running git in ${context.base}`, CHECK_MS, (signal) =>
      context.backend.probe(ref, { argv, cwd, env }, signal),
    );
    if (answer.exit_code === 0) continue;
    throw gitInside(context.base, cwd, answer);
  }
  return { state: 'done' };
};

function gitInside(base: string, cwd: string, { exit_code: code, output }: ProbeAnswer): JackinError {
  const missing = code === 127 || code === 126;
  return new JackinError({
    code: missing ? 'GIT_NOT_IN_IMAGE' : 'GIT_INSIDE_FAILED',
    message: missing
      ? `The image of ${base} has no git, and ${cwd} is a worktree or clone`
      : `Git does not work in ${cwd} inside of ${base}: ${output.trim() || `git status ended with ${code}`}`,
    hint: missing
      ? `Choose a role whose image has git, or share the directory: --mount-isolation ${cwd}=shared`
      : `A clone needs less of the host: --mount-isolation ${cwd}=clone`,
    details: { directory: cwd, exit_code: code, output },
  });
}

/** @throws JackinError what the repair is refused for */
export const repairRegistration: Handler<'repair_registration'> = async (step, context) => {
  const record = await recordOf(context, step.mount_dst);
  await remember(context, await context.ports.trees.repair(record, step.source));
  return { state: 'done' };
};

/** Only where nothing is: a directory that is back by then is not touched. @throws JackinError TREE_EXISTS */
export const recreateTree: Handler<'recreate_tree'> = async ({ mount_dst, branch, commit }, context) => {
  const { manifest } = await context.ref();
  const record = await recordOf(context, mount_dst);
  const owner = capsuleOwner(manifest);
  const made = await context.ports.trees.recreate(record, { branch, commit }, owner);
  await remember(context, made.record);
  for (const message of made.notices) tell(context, 'warn', message);
  return { state: 'done' };
};

async function recordOf(context: StepContext, mountDst: string): Promise<IsolationRecord> {
  const record = (await recordsOf(context)).find(({ mount_dst }) => mount_dst === mountDst);
  if (record !== undefined) return record;
  throw new JackinError({
    code: 'STATE_CHANGED',
    message: `Nothing records the mount ${mountDst} of ${context.base} any more`,
    hint: `Run \`jackin status ${context.instanceId} --detail\`, then the same command again.`,
  });
}

async function recordsOf({ ports, base }: StepContext): Promise<readonly IsolationRecord[]> {
  const isolation = await ports.store.readIsolation(base);
  return isolation.state === 'ok' ? isolation.records : [];
}

/** A record that names a place elsewhere, whoever wrote it, gives nobody the right to remove what is there. */
function requireInside({ ports, base }: StepContext, record: IsolationRecord): void {
  const { dir } = ports.paths.instance(base);
  if (record.worktree_path.startsWith(`${dir}/git/`)) return;
  throw new JackinError({
    code: 'PATH_OUTSIDE',
    message: `${JSON.stringify(record.worktree_path)} does not lie in ${dir}, so it is not touched`,
    hint: `If nothing there is needed any more, remove it yourself, then run the same command again.`,
    details: { path: record.worktree_path, mount_dst: record.mount_dst },
  });
}

function tell({ ports }: StepContext, level: 'info' | 'warn', message: string): void {
  ports.events({ type: 'notice', level, code: 'TREE_NOTE', message });
}

function forget({ ports, base }: StepContext, { mount_dst }: IsolationRecord): Promise<void> {
  return ports.store.changeIsolation(base, (records) =>
    records.filter((record) => record.mount_dst !== mount_dst),
  );
}

function removalFailed(
  base: string,
  failed: readonly { mount_dst: string; error: JackinError }[],
  removed: readonly string[],
): JackinError {
  const [first] = failed;
  const details = {
    mounts: failed.map(({ mount_dst, error: { code, message } }) => ({ mount_dst, code, message })),
    removed_before: [...removed],
  };
  if (failed.length === 1 && first !== undefined) {
    const { error } = first;
    return new JackinError({
      code: error.code,
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      details: { ...error.details, ...details },
      cause: error,
      exitCode: error.exitCode,
    });
  }
  return new JackinError({
    code: 'TREE_REMOVAL_FAILED',
    message: `${failed.length} trees of ${base} could not be removed: ${failed.map(({ error }) => error.message).join('; ')}`,
    hint: first?.error.hint ?? 'Run `jackin status --detail`, then the same command again.',
    details,
  });
}
