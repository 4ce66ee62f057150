import { dirname } from 'node:path';
import { JackinError } from './errors.ts';

/**
 * The operator's view of a failed file operation: names the file, the reason and the fix.
 * `action` is the verb of the sentence ("write", "read", "remove"); reading decides which code an access error
 * gets. A JackinError passes through unchanged.
 */
export function fileSystemError(error: unknown, path: string, action: string): JackinError {
  if (error instanceof JackinError) return error;
  const reading = action.startsWith('read');
  const directory = dirname(path);
  const fail = (code: string, reason: string, hint: string) =>
    new JackinError({
      code,
      message: `Cannot ${action} ${path}: ${reason}.`,
      hint,
      details: { path, errno: errorCode(error) ?? null },
      cause: error,
    });
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return fail(
        'DISK_FULL',
        errorCode(error) === 'EDQUOT' ? 'your disk quota is used up' : 'no space left on the disk',
        `Free some space (df -h ${shellWord(directory)}), then run the command again.`,
      );
    case 'EROFS':
      return fail(
        'STATE_NOT_WRITABLE',
        'the file system is mounted read-only',
        `Make it writable (findmnt -T ${shellWord(directory)} shows the mount), or set JACKIN_HOME_DIR to a directory that is.`,
      );
    case 'EACCES':
    case 'EPERM':
      return fail(
        reading ? 'STATE_NOT_READABLE' : 'STATE_NOT_WRITABLE',
        'permission denied',
        `Check owner and mode with: ls -ld ${shellWord(directory)} ${shellWord(path)}`,
      );
    default:
      return fail(
        reading ? 'STATE_NOT_READABLE' : 'STATE_NOT_WRITABLE',
        error instanceof Error ? error.message : String(error),
        `Look at it with: ls -ld ${shellWord(path)}`,
      );
  }
}

/** The `code` of a Node.js system error, if it has one. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function notARegularFile(path: string): JackinError {
  return new JackinError({
    code: 'NOT_A_REGULAR_FILE',
    message: `${path} is not a regular file.`,
    hint: `Look at it with: ls -ld ${shellWord(path)}`,
    details: { path },
  });
}

/** A path as one can paste it into a shell. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
