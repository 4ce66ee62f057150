import * as z from 'zod';

/** Protocol versions this build speaks. A connection uses the highest version both sides know. */
export const PROTOCOL_MIN = 1;
export const PROTOCOL_MAX = 1;

const id = z.string().min(1).max(128);
const cells = z.number().int().min(1).max(2000);
const requestId = z.number().int().nonnegative();

export const limitsSchema = z.object({
  memory_bytes: z.number().int().positive().optional(),
  cpus: z.number().positive().optional(),
  pids: z.number().int().positive().optional(),
});

/** One terminal session. `env` carries resolved secrets: it travels in memory only and is never written. */
export const sessionPlanSchema = z.object({
  session_id: id,
  name: z.string().max(256),
  agent: id,
  argv: z.array(z.string()).min(1).max(1024),
  cwd: z.string().min(1),
  env: z.record(z.string(), z.string()),
  cols: cells,
  rows: cells,
  limits: limitsSchema.optional(),
});
export type SessionPlan = z.infer<typeof sessionPlanSchema>;

export const clientMessageSchema = z.discriminatedUnion('type', [
  /** First message; carries nothing secret. The capsule proves itself with HMAC-SHA256(capsule key, nonce). */
  z.object({
    type: z.literal('hello'),
    protocol: z.object({ min: z.number().int(), max: z.number().int() }),
    client: z.object({ name: z.string().max(64), version: z.string().max(64) }),
    nonce: z.string().min(16).max(128),
  }),
  z.object({ type: z.literal('start_session'), request_id: requestId, session: sessionPlanSchema }),
  /** `session_id: null` means the newest living session, else the newest one. */
  z.object({
    type: z.literal('attach'),
    request_id: requestId,
    session_id: id.nullable(),
    cols: cells,
    rows: cells,
  }),
  z.object({ type: z.literal('resize'), cols: cells, rows: cells }),
  z.object({ type: z.literal('list'), request_id: requestId }),
  z.object({
    type: z.literal('end_session'),
    request_id: requestId,
    session_id: id,
    grace_ms: z.number().int().min(0).max(600_000),
  }),
  /** Orderly stop of the whole capsule on the host's request; the exit record repeats the nonce. */
  z.object({
    type: z.literal('stop'),
    request_id: requestId,
    nonce: z.string().min(8).max(128),
    grace_ms: z.number().int().min(0).max(600_000),
  }),
  /** Plain text of a session's screen, at most `lines` lines. */
  z.object({
    type: z.literal('snapshot'),
    request_id: requestId,
    session_id: id.nullable(),
    lines: z.number().int().min(1).max(10_000),
  }),
  z.object({ type: z.literal('ping'), request_id: requestId }),
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;

export const sessionInfoSchema = z.object({
  session_id: id,
  name: z.string(),
  agent: id,
  alive: z.boolean(),
  pid: z.number().int().nullable(),
  started_at: z.string(),
  ended: z
    .object({
      at: z.string(),
      code: z.number().int().nullable(),
      signal: z.string().nullable(),
      oom: z.boolean(),
    })
    .nullable(),
  cols: cells,
  rows: cells,
  clients: z.number().int().nonnegative(),
});
export type SessionInfo = z.infer<typeof sessionInfoSchema>;

export const capsuleMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    protocol: z.number().int(),
    instance_id: id,
    /** hex HMAC-SHA256(capsule key, hello nonce) */
    proof: z.string(),
    boot_id: z.string(),
    version: z.string(),
    pid: z.number().int(),
  }),
  z.object({ type: z.literal('reply'), request_id: requestId, data: z.unknown() }),
  z.object({
    type: z.literal('failure'),
    request_id: requestId.nullable(),
    error: z.object({ code: z.string(), message: z.string() }),
  }),
  /** The next `bytes` bytes of terminal frames are the repaint of this session at this size. */
  z.object({
    type: z.literal('repaint'),
    session_id: id,
    cols: cells,
    rows: cells,
    bytes: z.number().int().nonnegative(),
  }),
  /** The size in force (the smallest attached client's). */
  z.object({ type: z.literal('resized'), session_id: id, cols: cells, rows: cells }),
  z.object({ type: z.literal('session_started'), session: sessionInfoSchema }),
  z.object({ type: z.literal('session_ended'), session: sessionInfoSchema }),
  z.object({ type: z.literal('stopping'), ended_by: z.enum(['agent', 'request', 'signal']) }),
]);
export type CapsuleMessage = z.infer<typeof capsuleMessageSchema>;
