import { derivedNames, type Manifest } from '@jackin/instance';

/** Identity in the engine (docs/storage.md#labels). What lacks these is foreign, whatever its name. */
export const LABEL = {
  managed: 'jackin.managed',
  kind: 'jackin.kind',
  instance: 'jackin.instance',
  class: 'jackin.class',
  workspace: 'jackin.workspace',
  agent: 'jackin.agent',
  image: 'jackin.image',
  role: 'jackin.role',
} as const;

export const KEEP_REPOSITORY = 'jk-keep';

export type Labels = Record<string, string>;

/** Names of an instance's engine resources: as recorded, else derived. */
export function namesOf(manifest: Manifest): {
  container: string;
  sidecar: string;
  network: string;
  volume: string;
  keepTag: string;
} {
  const derived = derivedNames(manifest.container_base);
  const { docker } = manifest;
  return {
    container: derived.container,
    sidecar: docker.dind_container || derived.sidecar,
    network: docker.network || derived.network,
    volume: docker.certs_volume || derived.certsVolume,
    keepTag: `${KEEP_REPOSITORY}:${manifest.instance_id}`,
  };
}

export function roleLabels(manifest: Manifest, imageTag: string): Labels {
  return {
    [LABEL.managed]: 'true',
    [LABEL.kind]: 'role',
    [LABEL.instance]: manifest.instance_id,
    [LABEL.class]: manifest.role_key,
    [LABEL.workspace]: manifest.workspace_label,
    [LABEL.agent]: manifest.agent_runtime,
    [LABEL.image]: imageTag,
  };
}

/** Of a network or a volume. */
export function belongingLabels(base: string): Labels {
  return { [LABEL.managed]: 'true', [LABEL.role]: base };
}

type MaybeLabels = Record<string, string> | null | undefined;

export function isManaged(labels: MaybeLabels): boolean {
  return labels?.[LABEL.managed] === 'true';
}

/** The container of this very instance. */
export function isRoleOf(labels: MaybeLabels, instanceId: string): boolean {
  return isManaged(labels) && labels?.[LABEL.kind] === 'role' && labels[LABEL.instance] === instanceId;
}

export function isSidecarOf(labels: MaybeLabels, base: string): boolean {
  return isManaged(labels) && labels?.[LABEL.kind] === 'dind' && labels[LABEL.role] === base;
}

/** A network or volume of this very instance. */
export function belongsTo(labels: MaybeLabels, base: string): boolean {
  return isManaged(labels) && labels?.[LABEL.role] === base;
}

/**
 * A container that a restore put aside under another name (docs/status-and-causes.md#ladder): it is ours and goes when
 * the instance goes, but it is not the instance's container any more.
 */
export function isPutAside(name: string, base: string): boolean {
  return name.startsWith(`${base}-before-`);
}
