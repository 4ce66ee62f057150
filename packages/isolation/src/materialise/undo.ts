import { JackinError, toJackinError } from '@jackin/core';

/** What a half-made thing needs to be gone again, the newest first. */
export interface Undo {
  /** @param what names it for the report, should `run` fail */
  add(what: string, run: () => Promise<void>): void;
}

/**
 * Runs `make`; when it fails, what it had made so far is undone, and what could not be is named in the error.
 * @throws JackinError what failed, `MATERIALISE_FAILED` for git and where something is left (`details.left`);
 * the signal's reason when aborted and nothing is left
 */
export async function undoneOnFailure<T>(
  what: string,
  hint: string,
  make: (undo: Undo) => Promise<T>,
): Promise<T> {
  const steps: { what: string; run: () => Promise<void> }[] = [];
  try {
    return await make({ add: (name, run) => steps.push({ what: name, run }) });
  } catch (thrown) {
    const left: string[] = [];
    for (const step of steps.reverse()) {
      await step.run().catch((error: unknown) => left.push(`${step.what} (${toJackinError(error).message})`));
    }
    const named = thrown instanceof JackinError && thrown.code !== 'GIT_FAILED';
    if (left.length === 0 && (named || !(thrown instanceof Error) || thrown.name === 'AbortError'))
      throw thrown;
    const cause = toJackinError(thrown);
    throw new JackinError({
      code: 'MATERIALISE_FAILED',
      message: `${what} could not be made: ${cause.message}${left.length === 0 ? '' : ` Left behind: ${left.join('; ')}`}`,
      hint: named ? (cause.hint ?? hint) : hint,
      details: { left, reason: cause.code },
      cause: thrown,
    });
  }
}
