import * as z from 'zod';
import type { EngineFact, Finding, InstanceObservation, OrphanFact } from '../backend.ts';

/**
 * What a backend may answer. An adapter talks to programs we do not control; an answer of another shape is treated
 * as no answer, so that nonsense can never look like "not there".
 */
export const engineFactSchema: z.ZodType<EngineFact> = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('reachable'),
    endpoint: z.string(),
    id: z.string().nullable(),
    run: z.string().nullable(),
    boot_id: z.string().nullable(),
    rootless: z.boolean().optional(),
  }),
  z.object({ state: z.literal('unreachable'), endpoint: z.string(), reason: z.string() }),
]);

const containerFactSchema = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('running'),
    name: z.string(),
    engine_ref: z.string(),
    image_id: z.string().nullable(),
    oom_flag: z.boolean().nullable(),
    started_run: z.string().nullable(),
  }),
  z.object({
    state: z.literal('stopped'),
    name: z.string(),
    engine_ref: z.string(),
    image_id: z.string().nullable(),
    exit_code: z.number().int().nullable(),
    oom_flag: z.boolean().nullable(),
    error: z.string().nullable(),
    startable: z.discriminatedUnion('ok', [
      z.object({ ok: z.literal(true) }),
      z.object({ ok: z.literal(false), reason: z.string(), anew: z.boolean().optional() }),
    ]),
  }),
  z.object({ state: z.literal('missing') }),
  z.object({ state: z.literal('foreign'), name: z.string() }),
  z.object({ state: z.literal('unreachable'), reason: z.string() }),
]);

const imageFactSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('present'), image_id: z.string() }),
  z.object({ state: z.literal('missing') }),
  z.object({ state: z.literal('unknown'), reason: z.string() }),
]);

const resourceSchema = z.enum(['present', 'missing', 'foreign', 'unknown']).nullable();

export const instanceObservationSchema: z.ZodType<InstanceObservation> = z.object({
  container: containerFactSchema,
  sidecar: containerFactSchema.nullable(),
  image: z
    .object({ by_id: imageFactSchema, by_keep_tag: imageFactSchema, by_tag: imageFactSchema })
    .nullable(),
  network: resourceSchema,
  volume: resourceSchema,
  leftover_pids: z.array(z.number().int().positive()),
});

export const orphansSchema: z.ZodType<OrphanFact[]> = z.array(
  z.object({
    kind: z.enum(['container', 'sidecar', 'network', 'volume', 'image_tag', 'process']),
    name: z.string(),
    instance_id: z.string().nullable(),
  }),
);

export const findingsSchema: z.ZodType<Finding[]> = z.array(
  z.object({
    check: z.string(),
    severity: z.enum(['ok', 'info', 'warning', 'error']),
    message: z.string(),
    hint: z.string().exactOptional(),
  }),
);
