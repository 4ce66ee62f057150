import { lchown, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, fileSystemError } from './file-errors.ts';
import type { Owner } from './files.ts';

/**
 * Gives a file, or a directory with everything in it, to somebody. Links are given and not followed. What is not there
 * is passed over; what has the right owner is left alone.
 * @throws JackinError `STATE_NOT_WRITABLE` where this process may not
 */
export async function giveTree(path: string, owner: Owner): Promise<void> {
  try {
    const stats = await lstat(path);
    if (stats.uid !== owner.uid || stats.gid !== owner.gid) await lchown(path, owner.uid, owner.gid);
    if (!stats.isDirectory()) return;
    for await (const entry of await opendir(path)) await giveTree(join(path, entry.name), owner);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw fileSystemError(error, path, 'write');
  }
}
