import type { IsolatedMountFact } from '../facts.ts';

export interface ExitPolicy {
  value: 'ask' | 'keep' | 'clean';
  source: 'flag' | 'workspace' | 'workspace_missing' | 'global' | 'default';
}

/** The worst that is known of an instance's isolated mounts; `none`: it has only shared ones. */
export type TreeState = 'none' | 'clean' | 'dirty' | 'unpushed' | 'unknown';

/** What becomes of an instance after a clean end. */
export type ExitEffect =
  | 'clean'
  /** Kept because it was said. */
  | 'keep'
  | 'ask'
  /** Kept because there is work to decide about and nobody to ask. */
  | 'keep_unasked'
  /** Kept because nobody could look at the tree: no policy and no flag removes such a one. */
  | 'keep_unseen';

export interface ExitRule {
  /** Somebody can be asked. */
  terminal: ExitEffect;
  no_terminal: ExitEffect;
}

/**
 * What each exit policy makes of each tree (docs/exit-policy.md#every-combination). The one table: `decideExit` looks
 * the answer up here, whatever the way a session ended.
 */
export const EXIT_POLICY_TABLE: Readonly<
  Record<'ask' | 'keep' | 'clean', Readonly<Record<TreeState, ExitRule>>>
> = {
  ask: {
    none: always('clean'),
    clean: always('clean'),
    dirty: { terminal: 'ask', no_terminal: 'keep_unasked' },
    unpushed: { terminal: 'ask', no_terminal: 'keep_unasked' },
    unknown: { terminal: 'ask', no_terminal: 'keep_unasked' },
  },
  keep: {
    none: always('keep'),
    clean: always('keep'),
    dirty: always('keep'),
    unpushed: always('keep'),
    unknown: always('keep'),
  },
  clean: {
    none: always('clean'),
    clean: always('clean'),
    dirty: always('clean'),
    unpushed: always('clean'),
    unknown: always('keep_unseen'),
  },
};

const WORST_FIRST = ['unknown', 'dirty', 'unpushed', 'clean'] as const;

/** The state that decides when there are several trees: a doubt first, then what would be lost. */
export function treeState(isolated: readonly Pick<IsolatedMountFact, 'verdict'>[]): TreeState {
  return WORST_FIRST.find((state) => isolated.some(({ verdict }) => verdict === state)) ?? 'none';
}

function always(effect: ExitEffect): ExitRule {
  return { terminal: effect, no_terminal: effect };
}
