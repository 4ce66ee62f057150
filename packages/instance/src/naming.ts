import { createHash } from 'node:crypto';

const PREFIX = 'jk';
/** `<base>-dind` must fit a 63-character DNS label. */
export const BASE_NAME_MAX_LENGTH = 58;
const WORKSPACE_BUDGET = 22;
const ROLE_BUDGET = 23;
const AD_HOC_ROLE_BUDGET = 46;
const HASH_LENGTH = 4;

const ID = '[0-9a-hjkmnp-tv-z]{8}';
const INSTANCE_ID = new RegExp(`^${ID}$`);
const BASE_NAME = new RegExp(`^${PREFIX}-(${ID})(?:-[a-z0-9]+){1,2}$`);

/**
 * The name of an instance's directory, container, lock and socket directory (docs/storage.md#names).
 * @param parts.workspace the workspace's name, or null for an ad-hoc directory
 * @param parts.role the role key; its namespace (`owner/` in `owner/name`) is not part of the name
 * @throws RangeError when `instanceId` is not one of ours: only a programming error can cause it
 */
export function baseName(parts: { instanceId: string; workspace: string | null; role: string }): string {
  if (!INSTANCE_ID.test(parts.instanceId)) {
    throw new RangeError(`not an instance id: ${JSON.stringify(parts.instanceId)}`);
  }
  const role = component(parts.role.slice(parts.role.lastIndexOf('/') + 1), 'role');
  if (parts.workspace === null) {
    return [PREFIX, parts.instanceId, cut(role, AD_HOC_ROLE_BUDGET)].join('-');
  }
  const workspace = component(parts.workspace, 'workspace');
  const fits = workspace.length + role.length <= WORKSPACE_BUDGET + ROLE_BUDGET;
  return [
    PREFIX,
    parts.instanceId,
    fits ? workspace : cut(workspace, WORKSPACE_BUDGET),
    fits ? role : cut(role, ROLE_BUDGET),
  ].join('-');
}

/** Names of what belongs to an instance in an engine. */
export function derivedNames(base: string): {
  container: string;
  sidecar: string;
  network: string;
  certsVolume: string;
} {
  return {
    container: base,
    sidecar: `${base}-dind`,
    network: `${base}-net`,
    certsVolume: `${base}-dind-certs`,
  };
}

/** `sha256:…` of a canonical host path: tells two ad-hoc directories apart without storing where they are. */
export function workdirFingerprint(canonicalPath: string): string {
  return `sha256:${createHash('sha256').update(canonicalPath).digest('hex')}`;
}

/** The instance id inside a base name, or null when the text is not a base name (and so no safe path part). */
export function instanceIdOf(base: string): string | null {
  if (base.length > BASE_NAME_MAX_LENGTH) return null;
  return BASE_NAME.exec(base)?.[1] ?? null;
}

/** Filters before lowering: some other letters, such as the Kelvin sign, have an ASCII lower-case form. */
function component(text: string, fallback: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '').toLowerCase() || fallback;
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
  return `${text.slice(0, length - HASH_LENGTH)}${hash}`;
}
