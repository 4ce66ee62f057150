import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import dockerignore from '@balena/dockerignore';
import { openRoleFiles, type RoleFiles, readRoleText, roleInvalid } from '@jackin/config';
import { type ParsedDockerfile, parseDockerfile } from './dockerfile.ts';

const IGNORE_FILE = '.dockerignore';

/** A role that can be built: a directory with a manifest and a Dockerfile. */
export interface RoleDirectory extends RoleFiles {
  parsed: ParsedDockerfile;
  /** Whether `.dockerignore` leaves a path below `dir` out; `pruned`: and everything below it. */
  ignores(path: string): { left_out: boolean; pruned: boolean };
}

/** Where the roles inside this package are. A bundle has them elsewhere and says so. */
export const SHIPPED_ROLES = fileURLToPath(new URL('../../../roles', import.meta.url));

/**
 * Opens a role (docs/roles.md#manifest). Reads three files, walks nothing.
 * @throws JackinError `ROLE_NOT_FOUND`, `ROLE_INVALID`, `ROLE_VERSION`, `STATE_NOT_READABLE`
 */
export async function openRole(path: string): Promise<RoleDirectory> {
  const files = await openRoleFiles(path);
  const { dir, dockerfile } = files;
  const parsed = parseDockerfile(files.dockerfileText);
  checkDockerfile(join(dir, dockerfile), parsed);
  const ignoreText = (await readRoleText(join(dir, IGNORE_FILE))) ?? '';
  const ignores = ignoreRules(join(dir, IGNORE_FILE), ignoreText);
  // The builder reads both of them, whatever they say about themselves.
  const needed = new Set([dockerfile, IGNORE_FILE]);
  return {
    ...files,
    parsed,
    ignores: (entry) => (needed.has(entry) ? { left_out: false, pruned: false } : ignores(entry, dockerfile)),
  };
}

function checkDockerfile(file: string, parsed: ParsedDockerfile): void {
  if (!parsed.instructions.some(({ name }) => name === 'FROM')) {
    throw roleInvalid(file, { key: '', reason: 'has no FROM' }, 'Begin it with FROM debian:bookworm-slim.');
  }
  const last = parsed.instructions.at(-1);
  if (!parsed.endsOpen) return;
  throw roleInvalid(
    file,
    { key: '', reason: 'the last instruction ends in a continuation', line: last?.line ?? null },
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
