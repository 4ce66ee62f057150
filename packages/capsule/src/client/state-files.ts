import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, readFileBounded, toJackinError } from '@jackin/core';
import type * as z from 'zod';
import {
  EXIT_RECORD_FILE,
  type ExitRecord,
  exitRecordSchema,
  HEARTBEAT_FILE,
  type Heartbeat,
  heartbeatSchema,
  SCREEN_FILE,
  type Screen,
  STATE_FILE_MAX_BYTES,
  screenSchema,
} from '../protocol/index.ts';

type Absent = { state: 'absent' };
type Unreadable = { state: 'unreadable'; reason: string };

/** What the capsule left in the state directory about its end and its life. */
export interface CapsuleStateFiles {
  exit_record: { state: 'present'; record: ExitRecord } | Absent | Unreadable;
  heartbeat: { state: 'present'; heartbeat: Heartbeat } | Absent | Unreadable;
}

/**
 * The exit record and heartbeat of an instance, as untrusted input: bounded, never through a link, validated, and
 * only if they name this instance. Never throws: what cannot be read is `unreadable`, which is not `absent`.
 */
export async function readStateFiles(stateDir: string, instanceId: string): Promise<CapsuleStateFiles> {
  const [exit, heartbeat] = await Promise.all([
    readOne(stateDir, EXIT_RECORD_FILE, exitRecordSchema, instanceId),
    readOne(stateDir, HEARTBEAT_FILE, heartbeatSchema, instanceId),
  ]);
  return {
    exit_record: exit.state === 'present' ? { state: 'present', record: exit.value } : exit,
    heartbeat: heartbeat.state === 'present' ? { state: 'present', heartbeat: heartbeat.value } : heartbeat,
  };
}

/** The last screen the capsule wrote, or null; same care as {@link readStateFiles}. */
export async function readLastScreen(stateDir: string): Promise<Screen | null> {
  const screen = await readOne(stateDir, SCREEN_FILE, screenSchema, null);
  return screen.state === 'present' ? screen.value : null;
}

async function readOne<T>(
  stateDir: string,
  file: string,
  schema: z.ZodType<T>,
  instanceId: string | null,
): Promise<{ state: 'present'; value: T } | Absent | Unreadable> {
  const path = join(stateDir, file);
  try {
    if (!(await lstat(stateDir)).isDirectory())
      return unreadable(path, 'its directory is not a real directory');
    const bytes = await readFileBounded(path, { maxBytes: STATE_FILE_MAX_BYTES });
    if (bytes === null) return { state: 'absent' };
    const parsed = schema.safeParse(JSON.parse(bytes.toString('utf8')));
    if (!parsed.success) return unreadable(path, 'it is not what a capsule writes');
    const owner = (parsed.data as { instance_id?: string }).instance_id;
    if (instanceId !== null && owner !== instanceId) return unreadable(path, 'it names another instance');
    return { state: 'present', value: parsed.data };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { state: 'absent' };
    return unreadable(path, error instanceof SyntaxError ? 'it is not JSON' : toJackinError(error).message);
  }
}

function unreadable(path: string, reason: string): Unreadable {
  return { state: 'unreadable', reason: `${path}: ${reason}` };
}
