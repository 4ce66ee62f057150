import { realpath } from 'node:fs/promises';
import type { IsolationRecord } from '@jackin/instance';
import { driftOf } from '@jackin/isolation';
import type { LoadRequest } from './api.ts';
import type { PreparedLaunch } from './launch-request.ts';
import type { World } from './world.ts';

/**
 * A resumed session keeps what its first launch made it of; what was given now for a new one is told. A worktree or
 * clone that is asked for where another one is recorded is refused, so that nobody works in a tree they did not mean
 * (docs/isolation.md#sources).
 * @throws JackinError ISOLATION_DRIFT
 */
export async function keepRecipe(
  world: World,
  base: string,
  request: LoadRequest,
  { mounts }: Pick<PreparedLaunch, 'mounts'>,
): Promise<void> {
  const recorded = await world.store.readIsolation(base);
  const records = recorded.state === 'ok' ? recorded.records : [];
  const drift = driftOf(await Promise.all(records.map((record) => canonical(record, mounts))), mounts);
  if (drift !== null) throw drift;
  const { mounts: typed, mountIsolation, limits, command, roleBranch } = request;
  const given = typed.length > 0 || mountIsolation.length > 0;
  if (!given && Object.keys(limits).length === 0 && command.length === 0 && roleBranch == null) return;
  const message = `${base} keeps the role, mounts, limits and command of its first launch; those given now are for a new session`;
  world.events({ type: 'notice', level: 'warn', code: 'RECIPE_KEPT', message });
}

/** A source that is not there any more is for the divergence to tell: it is taken for the one that is asked for. */
async function canonical(
  record: IsolationRecord,
  mounts: PreparedLaunch['mounts'],
): Promise<IsolationRecord> {
  const asked = mounts.find(({ dst }) => dst === record.mount_dst)?.src;
  const source = await realpath(record.original_src).catch(() => asked);
  return { ...record, original_src: source ?? record.original_src };
}
