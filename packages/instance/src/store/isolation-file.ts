import { JackinError, readFileBounded, writeFileDurable } from '@jackin/core';
import { type IsolationRecord, isolationFileSchema } from '../isolation.ts';
import { describeIssues, parseJsonBytes, reasonOf } from './parse.ts';
import type { IsolationState } from './types.ts';

/** A record names every ref of its repository at launch. */
const MAX_ISOLATION_BYTES = 64 * 1024 * 1024;

/** Reads `isolation.json`. Whatever keeps it from being used is `corrupt`, never `absent`. */
export async function readIsolationFile(where: { isolation: string }): Promise<IsolationState> {
  try {
    const bytes = await readFileBounded(where.isolation, { maxBytes: MAX_ISOLATION_BYTES });
    if (bytes === null) return { state: 'absent' };
    const parsed = parseJsonBytes(bytes);
    if (parsed.state === 'corrupt') return parsed;
    if (parsed.version !== null && parsed.version > 1) {
      return {
        state: 'corrupt',
        reason: `version ${parsed.version} is newer than this jackin understands (1)`,
      };
    }
    const result = isolationFileSchema.safeParse(parsed.value);
    if (!result.success) return { state: 'corrupt', reason: describeIssues(result.error) };
    const { records, version: _version, ...rest } = result.data;
    return { state: 'ok', records, rest };
  } catch (error) {
    if (error instanceof JackinError) return { state: 'corrupt', reason: reasonOf(error) };
    throw error;
  }
}

/**
 * Replaces the records; what else the file says stays. The caller holds the instance's lock.
 * @throws JackinError `ISOLATION_CORRUPT` for a file that cannot be read: its records may name work; `DISK_FULL`,
 *   `STATE_NOT_WRITABLE`
 */
export async function writeIsolationFile(
  where: { isolation: string },
  change: (records: IsolationRecord[]) => IsolationRecord[],
): Promise<void> {
  const before = await readIsolationFile(where);
  if (before.state === 'corrupt') {
    throw new JackinError({
      code: 'ISOLATION_CORRUPT',
      message: `The mount records ${where.isolation} cannot be read: ${before.reason}`,
      hint: 'Mend the file, or put a copy of it back; the trees it names were not touched.',
      details: { path: where.isolation },
    });
  }
  const records = change(before.state === 'ok' ? before.records : []);
  const rest = before.state === 'ok' ? before.rest : {};
  await writeFileDurable(where.isolation, `${JSON.stringify({ ...rest, version: 1, records }, null, 2)}\n`, {
    mode: 0o600,
  });
}
