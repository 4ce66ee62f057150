/** A seed for this run, or the one of an earlier run that is to be repeated. */
export function newSeed(): number {
  const wanted = Number(process.env.JACKIN_TEST_SEED);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : 1 + Math.floor(Math.random() * 0x7fff_fffe);
}

/** Numbers in [0, 1) that depend on the seed alone (a linear congruential generator; quality does not matter here). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}
