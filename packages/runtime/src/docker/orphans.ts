import { instanceIdOf } from '@jackin/instance';
import type { InstanceRef, OrphanFact } from '../backend.ts';
import type { ListedContainer, ListedImage, ListedNetwork, ListedVolume } from './api.ts';
import { namesOfListed } from './api.ts';
import { isManaged, KEEP_REPOSITORY, LABEL } from './labels.ts';

export interface Listed {
  containers: readonly ListedContainer[];
  images: readonly ListedImage[];
  networks: readonly ListedNetwork[];
  volumes: readonly ListedVolume[];
}

/** What carries our identity and belongs to none of `refs`. */
export function orphansOf(refs: readonly InstanceRef[], listed: Listed): OrphanFact[] {
  const ids = new Set(refs.map(({ instance_id }) => instance_id));
  const bases = new Set(refs.map(({ container_base }) => container_base));
  const containers = listed.containers
    .filter(({ Labels }) => isManaged(Labels))
    .map((one) => containerOrphan(one, ids, bases));
  const belonging = (kind: 'network' | 'volume', all: readonly ListedVolume[]): OrphanFact[] =>
    all
      .filter(({ Labels }) => isManaged(Labels) && !bases.has(Labels?.[LABEL.role] ?? ''))
      .map(({ Name, Labels }) => ({
        kind,
        name: Name,
        instance_id: instanceIdOf(Labels?.[LABEL.role] ?? ''),
      }));
  const tags = listed.images
    .flatMap(({ RepoTags }) => RepoTags ?? [])
    .map((tag) => ({ tag, id: new RegExp(`^(?:localhost/)?${KEEP_REPOSITORY}:(.+)$`).exec(tag)?.[1] }))
    .filter(({ id }) => id !== undefined && !ids.has(id))
    .map(({ tag, id }): OrphanFact => ({ kind: 'image_tag', name: tag, instance_id: id ?? null }));
  return [
    ...containers.filter((one) => one !== null),
    ...belonging('network', listed.networks),
    ...belonging('volume', listed.volumes),
    ...tags,
  ];
}

function containerOrphan(
  one: ListedContainer,
  ids: ReadonlySet<string>,
  bases: ReadonlySet<string>,
): OrphanFact | null {
  const name = namesOfListed(one)[0] ?? one.Id;
  if (one.Labels?.[LABEL.kind] === 'dind') {
    const role = one.Labels[LABEL.role] ?? '';
    return bases.has(role) ? null : { kind: 'sidecar', name, instance_id: instanceIdOf(role) };
  }
  // Somebody's own container of an image of ours has inherited the rest of the labels.
  if (one.Labels?.[LABEL.kind] === 'image') return null;
  const id = one.Labels?.[LABEL.instance] ?? null;
  return id !== null && ids.has(id) ? null : { kind: 'container', name, instance_id: id };
}
