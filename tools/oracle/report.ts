import type { HistoryResult } from './history.ts';

export interface Tally {
  histories: number;
  kept: number;
  safe: number;
  losses: number;
  /** Histories that could not be made or judged. */
  failures: number;
  /** Why trees were kept that could have gone; numbers and names left out, so that like goes with like. With one seed each. */
  causes: Map<string, { count: number; seed: number }>;
}

export function emptyTally(): Tally {
  return { histories: 0, kept: 0, safe: 0, losses: 0, failures: 0, causes: new Map() };
}

export function addTo(tally: Tally, { seed, kept, safe, losses, why }: HistoryResult): void {
  tally.histories += 1;
  if (kept) tally.kept += 1;
  if (safe) tally.safe += 1;
  if (losses.length > 0) tally.losses += 1;
  if (!kept || !safe) return;
  const cause = why.replace(/\d+/g, 'N').replace(/(inside: )\S+/, '$1…');
  const known = tally.causes.get(cause) ?? { count: 0, seed };
  tally.causes.set(cause, { ...known, count: known.count + 1 });
}

/** One line. @param elapsedMs since the first history began */
export function summary({ histories, kept, safe, losses, failures }: Tally, elapsedMs: number): string {
  const perSecond = (histories / (elapsedMs / 1000)).toFixed(2);
  const others = failures === 0 ? '' : `, ${failures} not judged`;
  return `${histories} histories, ${perSecond}/s: ${kept} kept, ${histories - kept} cleaned, ${safe} were safe, losses in ${losses}${others}`;
}

/** The share of trees kept although everything was elsewhere, and why, the commonest first. */
export function keptAlthoughSafe({ safe, causes }: Tally): string {
  const all = [...causes.values()].reduce((sum, { count }) => sum + count, 0);
  const share = safe === 0 ? '0.0' : ((100 * all) / safe).toFixed(1);
  const rows = [...causes]
    .sort((left, right) => right[1].count - left[1].count)
    .map(
      ([cause, { count, seed }]) => `  ${count}  ${cause}, as with seed ${seed}
`,
    );
  return `kept although everything was elsewhere: ${all} of ${safe} (${share} %)\n${rows.join('')}`;
}
