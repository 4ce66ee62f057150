import { expect, test } from '@jest/globals';
import { faults, fuzz } from './support/fuzz.ts';

const HISTORIES = 75;

test('75 known histories end without a loss, and neither everything nor nothing is kept', async () => {
  const results = await fuzz(1, HISTORIES);
  expect(faults(results)).toEqual([]);
  const safe = results.filter((result) => result.safe).length;
  const cleaned = results.filter(({ kept }) => !kept).length;
  // Otherwise the histories prove little: a program that keeps everything loses nothing.
  expect(safe).toBeGreaterThanOrEqual(HISTORIES * 0.3);
  expect(safe).toBeLessThanOrEqual(HISTORIES * 0.7);
  expect(cleaned).toBeGreaterThanOrEqual(safe * 0.8);
}, 1_500_000);
