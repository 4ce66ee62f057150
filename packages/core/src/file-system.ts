import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve, sep } from 'node:path';
import { refuseDanglingLink } from './dangling-link.ts';
import { errorCode, fileSystemError } from './file-errors.ts';
import type { Tri } from './ports.ts';

export interface FileSystemFacts {
  /** The nearest directory that exists at or above the asked path. */
  path: string;
  /** `tmpfs`, `overlay`, `nfs`, … or the type number in hex. */
  kind: string;
  /** Whether what is written there is still there after a reboot. */
  persistent: Tri;
  /** For unprivileged users. */
  free_bytes: number;
  total_bytes: number;
}

/** Magic numbers of statfs(2) on Linux. On macOS the numbers mean other things and are not interpreted. */
const KINDS: Record<number, { kind: string; persistent: Tri }> = {
  16914836: { kind: 'tmpfs', persistent: 'no' },
  2240043254: { kind: 'ramfs', persistent: 'no' },
  2035054128: { kind: 'overlay', persistent: 'unknown' },
  26985: { kind: 'nfs', persistent: 'yes' },
  4283649346: { kind: 'cifs', persistent: 'yes' },
  1702057286: { kind: 'fuse', persistent: 'unknown' },
  61267: { kind: 'ext4', persistent: 'yes' },
  2435016766: { kind: 'btrfs', persistent: 'yes' },
  1481003842: { kind: 'xfs', persistent: 'yes' },
  801189825: { kind: 'zfs', persistent: 'yes' },
};

/**
 * What kind of file system a path is or will be on, for `doctor`: state on a tmpfs or under a temporary directory
 * is lost at the next reboot.
 * @throws JackinError `STATE_NOT_READABLE`.
 */
export async function describeFileSystem(path: string): Promise<FileSystemFacts> {
  for (let candidate = resolve(path); ; candidate = dirname(candidate)) {
    try {
      const facts = await statfs(candidate);
      const known = process.platform === 'linux' ? KINDS[facts.type >>> 0] : undefined;
      return {
        path: candidate,
        kind: known?.kind ?? `0x${(facts.type >>> 0).toString(16)}`,
        persistent: isTemporary(resolve(path)) ? 'no' : (known?.persistent ?? 'yes'),
        free_bytes: facts.bavail * facts.bsize,
        total_bytes: facts.blocks * facts.bsize,
      };
    } catch (error) {
      const missing = ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
      if (missing) await refuseDanglingLink(candidate);
      if (!missing || candidate === dirname(candidate)) throw fileSystemError(error, candidate, 'read');
    }
  }
}

/** Cleared at boot on most systems, whatever the file system. */
function isTemporary(path: string): boolean {
  return [tmpdir(), '/tmp', '/private/tmp', '/dev/shm', '/run'].some(
    (directory) => path === directory || path.startsWith(directory + sep),
  );
}
