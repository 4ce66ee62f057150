import { lstat, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import dockerignore from '@balena/dockerignore';
import { errorCode, fileSystemError, JackinError, readFileBounded } from '@jackin/core';
import { type ParsedDockerfile, parseDockerfile } from './dockerfile.ts';
import { roleInvalid, roleNotFound } from './role-errors.ts';
import { parseRoleManifest, ROLE_MANIFEST, ROLE_VERSION, type RoleManifest } from './role-manifest.ts';

const MAX_TEXT_BYTES = 1024 * 1024;
const IGNORE_FILE = '.dockerignore';
const BUILTIN = 'builtin:';

/** A role that can be built: a directory with a manifest and a Dockerfile. */
export interface RoleDirectory {
  /** Canonical. */
  dir: string;
  manifest: RoleManifest;
  manifestText: string;
  /** Its path below `dir`, with `/`. */
  dockerfile: string;
  dockerfileText: string;
  parsed: ParsedDockerfile;
  /** Whether `.dockerignore` leaves a path below `dir` out; `pruned`: and everything below it. */
  ignores(path: string): { left_out: boolean; pruned: boolean };
}

/** Where the roles inside this package are. A bundle has them elsewhere and says so. */
export const SHIPPED_ROLES = fileURLToPath(new URL('../../../roles', import.meta.url));

/**
 * The directory a recipe's `role.source` means: `builtin:<name>`, an absolute path, or one below `~`.
 * @throws JackinError `ROLE_NOT_FOUND`, `ROLE_REPOSITORY_UNSUPPORTED`
 */
export function locateRole(
  source: string,
  options: { home: string; shippedRoles?: string | undefined },
): string {
  if (source.startsWith(BUILTIN)) {
    const name = source.slice(BUILTIN.length);
    if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) throw roleNotFound(source, 'no role of that name is built in');
    return join(options.shippedRoles ?? SHIPPED_ROLES, name);
  }
  if (isAbsolute(source)) return source;
  if (source === '~' || source.startsWith('~/')) return join(options.home, source.slice(1));
  if (/^[\w.+-]+@|^[a-z][a-z0-9+.-]*:/i.test(source)) {
    throw new JackinError({
      code: 'ROLE_REPOSITORY_UNSUPPORTED',
      message: `The role ${JSON.stringify(source)} is a repository; this version builds roles from directories.`,
      hint: 'Clone it, and name the directory in config.toml: [roles.<key>] path = "/absolute/path".',
      details: { source },
    });
  }
  throw roleNotFound(source, 'the path is not absolute');
}

/**
 * Opens a role (docs/configuration.md#role-manifest). Reads three files, walks nothing.
 * @throws JackinError `ROLE_NOT_FOUND`, `ROLE_INVALID`, `ROLE_VERSION`, `STATE_NOT_READABLE`
 */
export async function openRole(path: string): Promise<RoleDirectory> {
  const dir = await canonical(path);
  const file = join(dir, ROLE_MANIFEST);
  const manifestText = await readText(file);
  if (manifestText === null) throw await withoutManifest(dir, file);
  const manifest = parseRoleManifest(file, manifestText);
  const dockerfile = await insideDirectory(dir, file, manifest.dockerfile);
  const dockerfileText = await readText(join(dir, dockerfile));
  if (dockerfileText === null) {
    throw roleInvalid(
      file,
      { key: 'dockerfile', reason: `there is no ${JSON.stringify(manifest.dockerfile)}` },
      `Write ${join(dir, dockerfile)}, or name the file that exists.`,
    );
  }
  const parsed = parseDockerfile(dockerfileText);
  checkDockerfile(join(dir, dockerfile), parsed);
  const ignores = ignoreRules(join(dir, IGNORE_FILE), (await readText(join(dir, IGNORE_FILE))) ?? '');
  // The builder reads both of them, whatever they say about themselves.
  const needed = new Set([dockerfile, IGNORE_FILE]);
  return {
    dir,
    manifest,
    manifestText,
    dockerfile,
    dockerfileText,
    parsed,
    ignores: (entry) => (needed.has(entry) ? { left_out: false, pruned: false } : ignores(entry, dockerfile)),
  };
}

async function canonical(path: string): Promise<string> {
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

async function withoutManifest(dir: string, file: string): Promise<JackinError> {
  const hasDockerfile = await lstat(join(dir, 'Dockerfile')).then(
    () => true,
    () => false,
  );
  const reason = hasDockerfile ? 'is missing beside the Dockerfile' : 'is missing';
  return roleInvalid(
    file,
    { key: '', reason: `the file ${reason}` },
    `Write into it: version = "${ROLE_VERSION}", and on the next line: dockerfile = "Dockerfile".`,
  );
}

/** A link on the way could lead out of the directory, and later somewhere else. */
async function insideDirectory(dir: string, file: string, dockerfile: string): Promise<string> {
  const refuse = (reason: string) =>
    roleInvalid(
      file,
      { key: 'dockerfile', reason: `${JSON.stringify(dockerfile)} ${reason}` },
      'Name a real file inside the role, for example dockerfile = "Dockerfile".',
    );
  if (isAbsolute(dockerfile)) throw refuse('is not relative');
  const parts = dockerfile.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || parts.length === 0) throw refuse('is not inside the role');
  for (let count = 1; count <= parts.length; count++) {
    const stats = await lstat(join(dir, ...parts.slice(0, count))).catch(() => null);
    if (stats?.isSymbolicLink()) throw refuse('is, or lies behind, a symbolic link');
    if (count === parts.length && stats !== null && !stats.isFile()) throw refuse('is not a regular file');
  }
  return parts.join('/');
}

async function readText(file: string): Promise<string | null> {
  try {
    const bytes = await readFileBounded(file, { maxBytes: MAX_TEXT_BYTES });
    return bytes === null ? null : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const code = error instanceof JackinError ? error.code : null;
    const reason =
      code === 'NOT_A_REGULAR_FILE'
        ? 'not a regular file'
        : code === 'FILE_TOO_LARGE'
          ? 'larger than 1 MiB'
          : code === null
            ? 'not valid UTF-8'
            : null;
    if (reason === null) throw error;
    throw roleInvalid(file, { key: '', reason }, 'Put a text file in its place.');
  }
}

function checkDockerfile(file: string, parsed: ParsedDockerfile): void {
  if (!parsed.instructions.some(({ name }) => name === 'FROM')) {
    throw roleInvalid(file, { key: '', reason: 'has no FROM' }, 'Begin it with FROM debian:bookworm-slim.');
  }
  const last = parsed.instructions.at(-1);
  if (!parsed.endsOpen) return;
  throw roleInvalid(
    file,
    { key: `line ${last?.line}`, reason: 'the last instruction ends in a continuation' },
    'Remove the last backslash.',
  );
}

function ignoreRules(file: string, text: string) {
  const rules = (dockerignore as unknown as typeof dockerignore.default)({ ignorecase: false });
  rules.add(text);
  /** With an exception somewhere, what lies below a directory that is left out may still be wanted. */
  const hasExceptions = /^\s*!/m.test(text);
  return (path: string, dockerfile: string) => {
    try {
      const leftOut = rules.ignores(path);
      const pruned = leftOut && !hasExceptions && !dockerfile.startsWith(`${path}/`);
      return { left_out: leftOut, pruned };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw roleInvalid(
        file,
        { key: '', reason: 'has a pattern that cannot be understood' },
        'Escape ( [ { + with a backslash.',
      );
    }
  };
}
