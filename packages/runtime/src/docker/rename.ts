import type { InstanceRef } from '../backend.ts';
import { engineFor } from './acting.ts';
import { type ListedContainer, namesOfListed } from './api.ts';
import { withSignal } from './engine.ts';
import { statusOf } from './errors.ts';
import { isPutAside, namesOf } from './labels.ts';
import { listContainers } from './lists.ts';
import { containerMissing, nameTaken } from './named-errors.ts';
import type { DockerDeps } from './options.ts';
import { allOf, type Selected, selectContainer } from './select.ts';

/**
 * Gives the instance's container another name; one of ours that has it already needs nothing. Back to the instance's own
 * name goes the one that was put aside last.
 * @throws JackinError `CONTAINER_MISSING`, `NAME_TAKEN_BY_FOREIGN`
 */
export async function renameContainer(
  deps: DockerDeps,
  ref: InstanceRef,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const engine = await engineFor(deps, ref, signal);
  const listed = await listContainers(engine, signal);
  const selected = toBeRenamed(listed, ref, to);
  if (selected.state !== 'ours') {
    if (allOf(listed, ref).some((one) => namesOfListed(one).includes(to))) return;
    if (selected.state === 'foreign') throw nameTaken('container', ref.container_base);
    throw containerMissing(ref.container_base, ref.instance_id);
  }
  const { Id: id } = selected.container;
  if (namesOfListed(selected.container).includes(to)) return;
  try {
    await engine.call(`Renaming ${ref.container_base}`, { signal }, (docker, inner) =>
      docker.getContainer(id).rename(withSignal(inner, { name: to })),
    );
  } catch (error) {
    throw statusOf(error) === 409 ? nameTaken('container', to) : error;
  }
}

function toBeRenamed(listed: readonly ListedContainer[], ref: InstanceRef, to: string): Selected {
  const selected = selectContainer(listed, ref);
  const own = namesOf(ref.manifest).container;
  if (selected.state !== 'missing' || to !== own) return selected;
  const aside = (one: ListedContainer) => namesOfListed(one).find((name) => isPutAside(name, own)) ?? '';
  const [last] = allOf(listed, ref)
    .filter((one) => aside(one) !== '')
    .sort((a, b) => aside(b).localeCompare(aside(a)));
  return last === undefined ? selected : { state: 'ours', container: last };
}
