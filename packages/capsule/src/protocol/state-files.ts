import * as z from 'zod';

/**
 * What the capsule leaves in the state directory. The container is hostile: the host reads these files sized,
 * without following links, and validated; nothing in them may name a path.
 */
export const EXIT_RECORD_FILE = 'exit.json';
export const HEARTBEAT_FILE = 'heartbeat.json';
export const SCREEN_FILE = 'screen.json';
export const STATE_FILE_MAX_BYTES = 256 * 1024;

const text = z.string().max(256);

export const exitRecordSchema = z.object({
  version: z.literal(1),
  instance_id: text,
  boot_id: text,
  at: text,
  /** Who ended it: the last agent by itself, our own request, or a signal to the capsule. */
  ended_by: z.enum(['agent', 'request', 'signal']),
  nonce: text.optional(),
  /** The signal the capsule got, when it was ended by one. */
  capsule_signal: text.optional(),
  /** The last agent's code and signal; null where there was none. */
  code: z.number().int().nullable(),
  signal: text.nullable(),
  /** The agent's own cgroup counted an OOM kill and that ended it. */
  oom: z.boolean(),
  /** A child was OOM-killed while the agent went on: a note, not a cause. */
  oom_note: z.boolean().default(false),
  agent: text.nullable(),
  session_id: text.nullable(),
});
export type ExitRecord = z.infer<typeof exitRecordSchema>;

export const heartbeatSchema = z.object({
  version: z.literal(1),
  instance_id: text,
  boot_id: text,
  at: text,
  pid: z.number().int(),
  sessions: z
    .array(z.object({ session_id: text, agent: text, alive: z.boolean(), pid: z.number().int().nullable() }))
    .max(256),
});
export type Heartbeat = z.infer<typeof heartbeatSchema>;

/** The last screen as plain text, so that it can be shown without a living capsule. */
export const screenSchema = z.object({
  version: z.literal(1),
  session_id: text,
  title: text,
  at: text,
  lines: z.array(z.string().max(4096)).max(400),
});
export type Screen = z.infer<typeof screenSchema>;
