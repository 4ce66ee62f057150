import type { AgedEntry } from './index-file.ts';
import { below, look } from './read.ts';

const NS_PER_S = 1_000_000_000n;

/**
 * Files git takes for what the index has, though they may have been changed in the second in which git looked: their
 * times are older than that and were set back, as `touch -r`, `rsync -t` or `cp -p` does. What git notes beside whole
 * seconds tells most of them apart; the others have to be read.
 * @param changed paths git has named already
 */
export function agedFiles(
  tree: string,
  aged: readonly AgedEntry[],
  changed: ReadonlySet<string>,
): AgedEntry[] {
  return aged.filter(({ path, changed: noted }) => {
    const stats = changed.has(path) ? null : look(below(tree, path));
    if (stats === null) return false;
    const [changedS, ns] = [stats.ctimeNs / NS_PER_S, stats.ctimeNs % NS_PER_S];
    if (changedS <= stats.mtimeNs / NS_PER_S) return false;
    if (noted === null) return true;
    // In another second git has read it itself. It notes 32 bits of one.
    return BigInt.asUintN(32, changedS) === BigInt(noted.s) && (noted.ns === 0 || ns !== BigInt(noted.ns));
  });
}
