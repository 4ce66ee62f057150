import { expect, test } from '@jest/globals';
import { faults, fuzz } from './support/fuzz.ts';

const GIVEN = process.env.JACKIN_FUZZ_SEED;
const FIRST = GIVEN === undefined ? Math.floor(Math.random() * 0x7fffffff) : Number(GIVEN);

test('75 histories nobody has seen before end without a loss', async () => {
  process.stderr.write(`random histories: JACKIN_FUZZ_SEED=${FIRST}\n`);
  const results = await fuzz(FIRST, 75);
  expect(faults(results)).toEqual([]);
}, 1_500_000);
