import { expect, test } from '@jest/globals';
import { faults, fuzz } from './support/fuzz.ts';

const SEEDS = Array.from({ length: 75 }, (_, index) => index + 1);

test('75 known histories end without a loss, and neither everything nor nothing is kept', async () => {
  const results = await fuzz(SEEDS);
  expect(faults(results)).toEqual([]);
  const safe = results.filter((result) => result.safe).length;
  const cleaned = results.filter(({ kept }) => !kept).length;
  // Otherwise the histories prove little: a program that keeps everything loses nothing.
  expect(safe).toBeGreaterThanOrEqual(SEEDS.length * 0.3);
  expect(safe).toBeLessThanOrEqual(SEEDS.length * 0.7);
  expect(cleaned).toBeGreaterThanOrEqual(safe * 0.8);
}, 600_000);
