/** Numbers that look random and are the same for the same seed, on every machine. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  /** @throws RangeError for an empty list */
  pick<Item>(list: readonly Item[]): Item;
  /** A word nobody has used before in this history. */
  word(): string;
}

/** mulberry32: 32 bits of state are plenty for a few hundred draws. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  let words = 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (list) => {
      if (list.length === 0) throw new RangeError('there is nothing to pick from');
      return list[below(list.length)] as (typeof list)[number];
    },
    word: () => {
      words += 1;
      return `${below(0x1000000).toString(36)}-${words}`;
    },
  };
}
