import { type RoleManifest, roleInvalid, roleUnsupported } from '@jackin/config';
import type { Owner } from '@jackin/core';
import { type ContextEntry, walkContext } from './context.ts';
import { contentHash, contextHash } from './context-hash.ts';
import { deriveDockerfile } from './derive.ts';
import { imageReferences } from './dockerfile.ts';
import { checkRoleKey, imageTag } from './image-name.ts';
import { openRole, type RoleDirectory } from './role-directory.ts';

export interface ImageRequest {
  roleDir: string;
  roleKey: string;
  /** Who the instance runs as. */
  user: Owner;
  /** The commit its directory is an export of; without one it is a plain directory. */
  commit?: string | null;
  /** Build arguments. They can be read from the image: never a secret. */
  args: Readonly<Record<string, string>>;
}

/** An image as it will be, known without an engine. */
export interface ImageDescription {
  image_tag: string;
  /** Of the role's directory alone, for `recipe.role.content_hash`. */
  content_hash: string;
  /** Of everything the image depends on, for `recipe.build.context_hash`. */
  context_hash: string;
  /** The Dockerfile that is built, without its labels. */
  dockerfile: string;
  /** Its path in the role's directory, for `recipe.role.dockerfile`. */
  dockerfile_path: string;
  /** Every image from outside the build reads; `base_ref` is what the last stage stands on, null for scratch. */
  base_refs: string[];
  base_ref: string | null;
  stages: number;
  needs_buildkit: boolean;
  manifest: RoleManifest;
  context: { dir: string; entries: readonly ContextEntry[] };
}

/**
 * Everything there is to know about the image of a role before it is built. Reads the whole directory once.
 * @throws JackinError `ROLE_NOT_FOUND`, `ROLE_INVALID`, `ROLE_VERSION`, `ROLE_UNSUPPORTED`, `ROLE_CHANGED`,
 * `STATE_NOT_READABLE`
 */
export async function describeImage(request: ImageRequest): Promise<ImageDescription> {
  const { roleKey, user, args } = request;
  checkRoleKey(roleKey);
  const role = await openRole(request.roleDir);
  const { unsupported } = role.manifest;
  if (unsupported.length > 0) throw roleUnsupported(role.dir, unsupported);
  const references = imageReferences(role.parsed, { ...args });
  checkReferences(role, references.refs);
  const entries = await walkContext(role);
  const derived = deriveDockerfile(role.dockerfileText, user);
  const content = {
    entries,
    dockerfile: role.dockerfile,
    dockerfileText: role.dockerfileText,
    manifestText: role.manifestText,
  };
  const hash = contextHash({ ...content, derived, args, roleKey });
  return {
    image_tag: imageTag(roleKey, { commit: request.commit ?? null, hash }),
    content_hash: contentHash(content),
    context_hash: hash,
    dockerfile: derived,
    dockerfile_path: role.dockerfile,
    base_refs: references.refs,
    base_ref: references.final,
    stages: references.stages,
    needs_buildkit: role.parsed.hasHereDocument,
    manifest: role.manifest,
    context: { dir: role.dir, entries },
  };
}

/** They are recorded in a label, and passed on to the engine as they are. */
function checkReferences(role: RoleDirectory, refs: readonly string[]): void {
  const wrong = refs.find((ref) => !/^[A-Za-z0-9][\w./:@+-]*$/.test(ref));
  if (wrong === undefined) return;
  throw roleInvalid(
    `${role.dir}/${role.dockerfile}`,
    { key: 'FROM', reason: `${JSON.stringify(wrong)} is not the name of an image` },
    'Write FROM debian:bookworm-slim, or give the argument in it a default.',
  );
}
