/** Why something could not be looked at. It becomes the verdict `unknown`, never an error of the caller. */
export class Doubt extends Error {
  override readonly name = 'Doubt';
}

/** Runs `look`; a doubt it meets is noted in `doubts` and answered with null. */
export function noting<T>(doubts: string[], look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    doubts.push(reasonOf(error));
    return null;
  }
}

/** What `look` answers; null where it meets a doubt, for what proves something only where it can be looked at. */
export function unlessDoubt<T>(look: () => T): T | null {
  return noting([], look);
}

/** The same as `noting` for a promise. */
export async function notingAsync<T>(doubts: string[], looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    doubts.push(reasonOf(error));
    return null;
  }
}

/** The doubt's own words; anything that is not a doubt is a fault of the program and goes on. */
function reasonOf(error: unknown): string {
  if (error instanceof Doubt) return error.message;
  throw error;
}
