import { JackinError, readFileBounded } from '@jackin/core';
import { isolationFileSchema } from '../isolation.ts';
import { describeIssues, parseJsonBytes, reasonOf } from './parse.ts';
import type { IsolationState } from './types.ts';

const MAX_ISOLATION_BYTES = 4 * 1024 * 1024;

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
    return { state: 'ok', records: result.data.records };
  } catch (error) {
    if (error instanceof JackinError) return { state: 'corrupt', reason: reasonOf(error) };
    throw error;
  }
}
