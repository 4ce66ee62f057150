import { lstat } from 'node:fs/promises';
import { errorCode, fileSystemError } from '@jackin/core';

/** Whether there is anything at `path`, a dangling link included. */
export async function pathExists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw fileSystemError(error, path, 'read');
  }
}
