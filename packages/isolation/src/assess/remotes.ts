import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PathView } from '../types.ts';
import { borrowsFrom } from './borrowed.ts';
import { last, type Settings } from './config.ts';
import { meanings } from './git-directory.ts';
import { text } from './names.ts';
import { canonical, isInside, isRealDirectory, look } from './read.ts';

export interface RemoteOptions {
  /** Canonical directories that go with the tree: what lies in them is nowhere else. */
  within: readonly string[];
  /** Where relative paths start. */
  from: string;
  /** Names of this place inside a container: a remote there goes with the tree. */
  views: readonly PathView[];
}

/** Ids of the remote-tracking refs that prove that a commit is elsewhere (docs/isolation.md#verdicts). */
export function elsewhere(
  refs: ReadonlyMap<string, string>,
  settings: Settings,
  options: RemoteOptions,
): { name: string; id: string }[] {
  // A name may contain that of another remote: the longest one that fits has the ref.
  const remotes = remoteNames(settings).sort((a, b) => b.length - a.length);
  const trusted = new Set(remotesElsewhere(settings, options).map(({ name }) => name));
  return [...refs]
    .filter(([name]) => {
      const owner = remotes.find((remote) => name.startsWith(`refs/remotes/${remote}/`));
      return owner !== undefined && trusted.has(owner);
    })
    .map(([name, id]) => ({ name, id }));
}

export interface Remote {
  name: string;
  urls: string[];
  /** Git directories of those on this machine. */
  directories: string[];
}

/** Remotes that are configured and lead away from the tree, by all of their addresses. */
export function remotesElsewhere(settings: Settings, options: RemoteOptions): Remote[] {
  return remoteNames(settings).flatMap((name): Remote[] => {
    const urls = [
      ...(settings.get(`remote.${name}.url`) ?? []),
      ...(settings.get(`remote.${name}.pushurl`) ?? []),
    ].map((url) => rewritten(url, settings));
    const places = urls.map((url) => placeOf(url, options));
    if (urls.length === 0 || places.includes('nowhere')) return [];
    return [
      {
        name,
        urls,
        directories: places.flatMap((place) => (typeof place === 'string' ? [] : [place.gitDir])),
      },
    ];
  });
}

export interface Upstream {
  /** E.g. `origin/main`. */
  name: string;
  gone: boolean;
}

/** What a branch follows by configuration; null without. */
export function upstreamOf(
  branch: string,
  settings: Settings,
  refs: ReadonlyMap<string, string>,
): Upstream | null {
  const remote = last(settings, `branch.${branch}.remote`);
  const merge = last(settings, `branch.${branch}.merge`);
  if (remote === null || merge === null) return null;
  const short = merge.replace(/^refs\/heads\//, '');
  if (remote === '.') return { name: text(short), gone: !refs.has(merge) };
  return { name: text(`${remote}/${short}`), gone: !refs.has(tracking(remote, merge, settings)) };
}

function tracking(remote: string, merge: string, settings: Settings): string {
  for (const spec of settings.get(`remote.${remote}.fetch`) ?? []) {
    const [from = '', to = ''] = spec.replace(/^\+/, '').split(':');
    if (from === merge) return to;
    if (!from.endsWith('*') || !merge.startsWith(from.slice(0, -1))) continue;
    return to.replace('*', () => merge.slice(from.length - 1));
  }
  return `refs/remotes/${remote}/${merge.replace(/^refs\/heads\//, '')}`;
}

function remoteNames(settings: Settings): string[] {
  return [...settings.keys()].flatMap((key) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []);
}

/** As `url.<base>.insteadOf` makes of it: the longest match wins. */
function rewritten(url: string, settings: Settings): string {
  let best = { length: 0, url };
  for (const [key, values] of settings) {
    const base = /^url\.(.*)\.(?:push)?insteadof$/s.exec(key)?.[1];
    if (base === undefined) continue;
    for (const value of values) {
      if (!url.startsWith(value) || value.length <= best.length) continue;
      best = { length: value.length, url: base + url.slice(value.length) };
    }
  }
  return best.url;
}

/** Where an address leads, as far as it holds anything by itself and does not go with the tree. */
function placeOf(url: string, options: RemoteOptions): 'away' | 'nowhere' | { gitDir: string } {
  const { within, from, views } = options;
  if (url === '') return 'nowhere';
  const path = localPath(url);
  if (path === null) return 'away';
  const typed = text(path);
  // All but the first are of a container, and in one of the places that go with the tree.
  if (meanings(typed, from, views).length > 1) return 'nowhere';
  const place = canonical(resolve(from, typed));
  // A path of the container, say: nobody on this machine can tell what is there.
  const gitDir = place === null ? null : gitDirectoryAt(place);
  if (place === null || gitDir === null) return 'nowhere';
  const goes = (root: string) => isInside(place, root) || (isInside(root, place) && dirname(root) === place);
  return within.some(goes) || borrowsFrom(gitDir, options) ? 'nowhere' : { gitDir };
}

/**
 * A directory of the right name is no remote, nor is one whose parts are links or elsewhere: they may lead back into the
 * tree.
 */
function gitDirectoryAt(place: string): string | null {
  const isOne = (dir: string) =>
    isRealDirectory(dir) &&
    look(join(dir, 'HEAD'))?.isFile() === true &&
    ['objects', 'refs'].every((part) => isRealDirectory(join(dir, part))) &&
    look(join(dir, 'commondir')) === null;
  return [place, join(place, '.git')].find(isOne) ?? null;
}

/** As git tells: `scheme://` and `host:path` are remote, but for files. */
function localPath(url: string): string | null {
  if (/^file:\/\//i.test(url)) {
    try {
      return Buffer.from(fileURLToPath(text(url))).toString('latin1');
    } catch {
      return url.slice('file://'.length);
    }
  }
  // Another program speaks for it; it may well read from here.
  if (/^[a-z0-9+.-]+::/i.test(url)) return '';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return null;
  const colon = url.indexOf(':');
  const slash = url.indexOf('/');
  return colon > 0 && (slash < 0 || colon < slash) ? null : url;
}
