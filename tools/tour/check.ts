import { isDeepStrictEqual } from 'node:util';

/** A check of the tour that did not hold; the message says what was expected and what was found. */
export class TourFailure extends Error {}

/** Throws TourFailure unless `actual` is deeply equal to `expected`. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new TourFailure(`${what} should be ${JSON.stringify(expected)} and is ${JSON.stringify(actual)}`);
}

/** Throws TourFailure with `problem` unless `holds`. */
export function expectThat(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new TourFailure(problem);
}
