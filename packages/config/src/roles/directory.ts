import { lstat, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { errorCode, fileSystemError, JackinError, readFileBounded } from '@jackin/core';
import { lineOf } from '../document/index.ts';
import { MANIFEST_VERSION } from '../version.ts';
import { roleInvalid, roleNotFound } from './errors.ts';
import { parseRoleManifest, ROLE_MANIFEST, type RoleManifest } from './manifest.ts';

const MAX_TEXT_BYTES = 1024 * 1024;

/** The files of a role that say what it is. */
export interface RoleFiles {
  /** Canonical. */
  dir: string;
  manifest: RoleManifest;
  manifestFile: string;
  manifestText: string;
  /** Of a key of the manifest, such as `docker.dind`; null when it is not written there. */
  lineOf(key: string): number | null;
  /** Its path below `dir`, with `/`. */
  dockerfile: string;
  dockerfileText: string;
}

/**
 * Opens the directory of a role: its manifest, and the files that one names (docs/roles.md#manifest). A link of the
 * operator may lead to the directory; inside of it none is followed.
 * @param candidate a text to read in place of the manifest's
 * @throws JackinError `ROLE_NOT_FOUND`, `ROLE_INVALID`, `MANIFEST_VERSION`, `STATE_NOT_READABLE`
 */
export async function openRoleFiles(path: string, candidate?: string): Promise<RoleFiles> {
  const dir = await canonicalRole(path);
  const { file, text } = await readManifest(dir);
  const manifestText = candidate ?? text;
  const manifest = parseRoleManifest(file, manifestText);
  const lineFor = (key: string) => lineOf(manifestText, key.split('.'));
  const dockerfile = await insideRole(dir, manifest.dockerfile, (reason) =>
    roleInvalid(
      file,
      { key: 'dockerfile', reason, line: lineFor('dockerfile') },
      'Name a real file inside the role, for example dockerfile = "Dockerfile".',
    ),
  );
  const dockerfileText = await readRoleText(join(dir, dockerfile));
  if (dockerfileText === null) {
    throw roleInvalid(
      file,
      {
        key: 'dockerfile',
        reason: `there is no ${JSON.stringify(manifest.dockerfile)}`,
        line: lineFor('dockerfile'),
      },
      `Write ${join(dir, dockerfile)}, or name the file that exists.`,
    );
  }
  for (const [hook, script] of Object.entries(manifest.hooks)) {
    if (script === undefined) continue;
    const refuse = (reason: string) =>
      roleInvalid(
        file,
        { key: `hooks.${hook}`, reason, line: lineFor(`hooks.${hook}`) },
        'Name a real file inside the role, or take the hook out.',
      );
    const inside = await insideRole(dir, script, refuse);
    if ((await lstat(join(dir, inside)).catch(() => null)) === null) {
      throw refuse(`there is no ${JSON.stringify(script)}`);
    }
  }
  return {
    dir,
    manifest,
    manifestFile: file,
    manifestText,
    lineOf: lineFor,
    dockerfile,
    dockerfileText,
  };
}

/** @throws JackinError `ROLE_NOT_FOUND`, `STATE_NOT_READABLE` */
export async function canonicalRole(path: string): Promise<string> {
  try {
    const dir = await realpath(path);
    if ((await stat(dir)).isDirectory()) return dir;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw roleNotFound(path, 'there is nothing there');
    throw fileSystemError(error, path, 'read');
  }
  throw roleNotFound(path, 'it is not a directory');
}

/** @throws JackinError `ROLE_INVALID` where there is none, or no text; `STATE_NOT_READABLE` */
export async function readManifest(dir: string): Promise<{ file: string; text: string }> {
  const file = join(dir, ROLE_MANIFEST);
  const text = await readRoleText(file);
  if (text === null) throw await withoutManifest(dir, file);
  return { file, text };
}

/**
 * A text file of a role, or null when there is none. Neither a link nor more than 1 MiB is read.
 * @throws JackinError `ROLE_INVALID`, `STATE_NOT_READABLE`
 */
export async function readRoleText(file: string): Promise<string | null> {
  try {
    const bytes = await readFileBounded(file, { maxBytes: MAX_TEXT_BYTES });
    return bytes === null ? null : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const reason = unusableText(error);
    if (reason === null) throw error;
    throw roleInvalid(file, { key: '', reason }, 'Put a text file in its place.');
  }
}

function unusableText(error: unknown): string | null {
  if (!(error instanceof JackinError)) return 'not valid UTF-8';
  if (error.code === 'NOT_A_REGULAR_FILE') return 'not a regular file';
  return error.code === 'FILE_TOO_LARGE' ? 'larger than 1 MiB' : null;
}

async function withoutManifest(dir: string, file: string): Promise<JackinError> {
  const hasDockerfile = await lstat(join(dir, 'Dockerfile')).then(
    () => true,
    () => false,
  );
  const reason = hasDockerfile ? 'is missing beside the Dockerfile' : 'is missing';
  return roleInvalid(
    file,
    { key: '', reason: `the file ${reason}` },
    `Write into it: version = "${MANIFEST_VERSION}", and on the next line: dockerfile = "Dockerfile".`,
  );
}

/** A link on the way could lead out of the directory, and later somewhere else. */
async function insideRole(
  dir: string,
  path: string,
  refuse: (reason: string) => JackinError,
): Promise<string> {
  const named = JSON.stringify(path);
  if (isAbsolute(path)) throw refuse(`${named} is not relative`);
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || parts.length === 0) throw refuse(`${named} is not inside the role`);
  for (let count = 1; count <= parts.length; count++) {
    const stats = await lstat(join(dir, ...parts.slice(0, count))).catch(() => null);
    if (stats?.isSymbolicLink()) throw refuse(`${named} is, or lies behind, a symbolic link`);
    if (count === parts.length && stats !== null && !stats.isFile()) {
      throw refuse(`${named} is not a regular file`);
    }
  }
  return parts.join('/');
}
