import { join } from 'node:path';
import { unlessDoubt } from './doubt.ts';
import type { Repository } from './git-directory.ts';
import type { AssessLimits } from './limits.ts';
import type { TypedObject } from './object-types.ts';
import { readRegular } from './read.ts';
import { readRefs } from './refs.ts';
import type { Remote } from './remotes.ts';
import { isOwnRef, type Tip } from './tips.ts';

export interface HolderFacts {
  repository: Repository;
  refs: ReadonlyMap<string, string>;
  /** Those that prove that something is elsewhere. */
  remotes: readonly Remote[];
  /** Objects that are known to be elsewhere. */
  known: readonly string[];
  limits: AssessLimits;
}

/**
 * Objects that somebody else has a ref to: what is no commit, and the text of a tag, is looked for by its id. A remote on
 * this machine is asked by reading its refs; of any other there is what git noted of the last fetch.
 */
export function heldElsewhere({ repository, refs, remotes, known, limits }: HolderFacts): Set<string> {
  const held = new Set(known);
  const linked = repository.gitDir !== repository.commonDir;
  // They stay with the repository a worktree belongs to.
  for (const [name, id] of refs) if (linked && !isOwnRef(name)) held.add(id);
  for (const id of fetched(repository.gitDir, remotes, limits)) held.add(id);
  for (const directory of remotes.flatMap(({ directories }) => directories)) {
    for (const id of refsOfRemote(directory, limits)) held.add(id);
  }
  return held;
}

/** Tips that would be lost although no commit would: objects nobody else has a ref to, and texts of tags. */
export function lostObjects<T extends Tip>(
  tips: readonly T[],
  types: readonly TypedObject[],
  held: ReadonlySet<string>,
): { tip: T; type: 'tag' | 'tree' | 'blob' }[] {
  return tips.flatMap((tip, at) => {
    const object = types[at];
    if (object === undefined || tip.onlyIfVisited === true || held.has(object.id)) return [];
    const { type, target } = object;
    if (type === 'commit' || type === 'missing') return [];
    const text = type === 'tag' && tip.textCounts === true;
    const content = target.type !== 'commit' && !held.has(target.id);
    return text || content ? [{ tip, type }] : [];
  });
}

/** By git's note of it, from remotes that count. */
function fetched(gitDir: string, remotes: readonly Remote[], limits: AssessLimits): string[] {
  const urls = new Set(remotes.flatMap((remote) => remote.urls.map(noted)));
  const read = unlessDoubt(() => readRegular(join(gitDir, 'FETCH_HEAD'), limits.fileBytes));
  const lines = read?.bytes.toString('latin1').split('\n') ?? [];
  return lines.flatMap((line) => {
    const [, id, from] = /^([0-9a-f]{40,64})\t(?:not-for-merge)?\t(?:.*' of )?(.+)$/.exec(line) ?? [];
    return id !== undefined && from !== undefined && urls.has(noted(from)) ? [id] : [];
  });
}

/** The form in which git notes an address: without who asks, and without its end. */
function noted(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^@/]*@/i, (_, scheme = '') => scheme)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
}

function refsOfRemote(directory: string, limits: AssessLimits): string[] {
  const { all } = unlessDoubt(() =>
    readRefs(
      {
        tree: null,
        gitDir: directory,
        commonDir: directory,
        kind: 'repository',
        needsWorktreeSetting: false,
      },
      limits,
    ),
  ) ?? { all: new Map<string, string>() };
  return [...all].filter(([name]) => name.startsWith('refs/')).map(([, id]) => id);
}
