import { JackinError } from '@jackin/core';
import { standaloneBackendSchema } from '@jackin/instance';
import * as z from 'zod';
import { engineFactSchema } from '../observe/inventory-schema.ts';

const imageBase = z.object({ ref: z.string(), digest: z.string().nullable(), image_id: z.string() });

/** What the acting calls of a backend may answer. */
const answers = {
  create: z.object({
    created: z.array(z.string()),
    image_id: z.string().nullable(),
    bases: z.array(imageBase).optional(),
    base: imageBase.nullish(),
  }),
  start: z.object({ engine: engineFactSchema, standalone: standaloneBackendSchema.optional() }),
  endLeftovers: z.array(z.number().int().positive()),
  remove: z.enum(['removed', 'absent']),
};

type Answers = { [Call in keyof typeof answers]: z.infer<(typeof answers)[Call]> };
export type StartAnswer = Answers['start'];
export type CreateAnswer = Answers['create'];

/** The answer itself. Throws BACKEND_ANSWER_INVALID: nonsense is never taken for "removed" or "nothing left". */
export function checkedAnswer<Call extends keyof Answers>(call: Call, answer: unknown): Answers[Call] {
  const checked = answers[call].safeParse(answer);
  if (!checked.success) throw answerInvalid(call, checked.error);
  // The schema of this very call parsed it; the compiler does not follow the index.
  return checked.data as Answers[Call];
}

export function answerInvalid(call: keyof Answers, cause?: unknown): JackinError {
  return new JackinError({
    code: 'BACKEND_ANSWER_INVALID',
    message: `The backend answered ${call} with something that makes no sense, so nothing after it was done`,
    hint: 'Run `jackin doctor`, then the same command again.',
    ...(cause === undefined ? {} : { cause }),
  });
}
