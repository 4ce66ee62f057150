import type { Divergence } from '../types.ts';

/** How a worktree and its repository know each other. */
export type RegistrationFact =
  | { state: 'ok' }
  /** Mended without touching a file of the tree. */
  | { state: 'repairable'; reason: string }
  | { state: 'unknown'; reason: string };

/** What is there now of what a record names. */
export interface SourceState {
  kind: 'worktree' | 'clone';
  tree: { path: string; present: 'yes' | 'no' | 'unknown' };
  source: { path: string; present: 'yes' | 'no' | 'unknown'; reason: string };
  /** Null for a clone, and where there is no repository or no tree. */
  registration: RegistrationFact | null;
  /** The branch made for a worktree; null when it is gone. */
  scratch: { name: string; commit: string; elsewhere: string | null } | null;
  /** What the host has of the base; null where it was not looked at. */
  history: HistoryFact | null;
}

export interface HistoryFact {
  base: string;
  /** Short, or `HEAD`. */
  branch: string;
  /** Null when it is gone. */
  commit: string | null;
  contains_base: 'yes' | 'no' | 'unknown';
  /** Commits on the branch that the base does not have. */
  ahead: number;
}

/**
 * The table (docs/isolation.md#divergence). Pure. What keeps git from working in the tree comes first, then what is
 * missing, then what the host's history has become. A clone stands alone: its source may be gone.
 */
export function decideDivergence(state: SourceState): Divergence {
  const { kind, tree, source, registration, scratch, history } = state;
  if (tree.present === 'unknown') return unknown(`cannot tell whether there is something at ${tree.path}`);
  if (kind === 'clone') {
    if (tree.present === 'no') return treeMissing(state);
    return source.present === 'yes' && history !== null
      ? ofHistory(history, 'unchanged')
      : { state: 'unchanged' };
  }
  if (source.present === 'unknown') return unknown(source.reason);
  if (source.present === 'no') return { state: 'source_missing', source: source.path, reason: source.reason };
  if (scratch !== null && scratch.elsewhere !== null) {
    return { state: 'branch_elsewhere', branch: scratch.name, worktree: scratch.elsewhere };
  }
  if (tree.present === 'no') return treeMissing(state);
  if (registration === null) return unknown('nobody looked at its registration');
  if (registration.state === 'unknown') return unknown(registration.reason);
  if (registration.state === 'repairable') {
    return { state: 'registration_missing', repairable: true, reason: registration.reason };
  }
  return history === null ? unknown('nobody looked at its history') : ofHistory(history, 'unknown');
}

/** @param doubt what a history that cannot be read means: a clone has its own */
function ofHistory(history: HistoryFact, doubt: 'unknown' | 'unchanged'): Divergence {
  const { base, branch, commit, contains_base, ahead } = history;
  switch (contains_base) {
    case 'unknown':
      return doubt === 'unknown'
        ? unknown(`cannot tell whether ${branch} contains ${base}`)
        : { state: 'unchanged' };
    case 'no':
      return { state: 'rewritten', base, branch, commit };
    case 'yes':
      return ahead === 0 ? { state: 'unchanged' } : { state: 'ahead', commits: ahead };
  }
}

function treeMissing({ tree, scratch }: SourceState): Divergence {
  const { name = null, commit = null } = scratch ?? {};
  return { state: 'tree_missing', path: tree.path, branch: name, commit };
}

function unknown(reason: string): Divergence {
  return { state: 'unknown', reason };
}
