import type { InstanceRef } from '../backend.ts';
import { type ListedContainer, namesOfListed } from './api.ts';
import { isPutAside, isRoleOf, isSidecarOf, namesOf } from './labels.ts';

export type Selected =
  | { state: 'ours'; container: ListedContainer }
  /** Something else has the name. */
  | { state: 'foreign'; container: ListedContainer }
  | { state: 'missing' };

/**
 * The container of an instance among all of an engine. Labels are the identity: one that somebody renamed is still
 * ours, one that only has the name is not. What a restore put aside does not count.
 */
export function selectContainer(listed: readonly ListedContainer[], ref: InstanceRef): Selected {
  const name = namesOf(ref.manifest).container;
  const ours = listed.filter(
    (one) =>
      isRoleOf(one.Labels, ref.instance_id) && !namesOfListed(one).some((own) => isPutAside(own, name)),
  );
  return select(listed, ours, name);
}

export function selectSidecar(listed: readonly ListedContainer[], ref: InstanceRef): Selected {
  const ours = listed.filter((one) => isSidecarOf(one.Labels, ref.container_base));
  return select(listed, ours, namesOf(ref.manifest).sidecar);
}

/** Every container of the instance, also those a restore put aside. */
export function allOf(listed: readonly ListedContainer[], ref: InstanceRef): ListedContainer[] {
  return listed.filter((one) => isRoleOf(one.Labels, ref.instance_id));
}

function select(listed: readonly ListedContainer[], ours: ListedContainer[], name: string): Selected {
  const named = (one: ListedContainer): boolean => namesOfListed(one).includes(name);
  const rank = (one: ListedContainer): number => (named(one) ? 2 : 0) + (one.State === 'running' ? 1 : 0);
  const [best] = [...ours].sort((a, b) => rank(b) - rank(a) || (b.Created ?? 0) - (a.Created ?? 0));
  if (best !== undefined) return { state: 'ours', container: best };
  const foreign = listed.find(named);
  return foreign === undefined ? { state: 'missing' } : { state: 'foreign', container: foreign };
}
