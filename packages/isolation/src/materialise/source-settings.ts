import { relative, resolve, sep } from 'node:path';
import { publicAddress, rewrittenAddress } from './origin-address.ts';
import type { OriginFact } from './source-facts.ts';

/** One entry of `git config --list -z --show-scope`. */
export interface Setting {
  scope: string;
  /** Section and name in lower case, a subsection as it is. */
  key: string;
  /** Null for a key without `=`. */
  value: string | null;
}

/** Null when it is not such a list. */
export function parseSettings(output: Buffer): Setting[] | null {
  const parts = output.toString('utf8').split('\0');
  if (parts.pop() !== '' || parts.length % 2 !== 0) return null;
  const settings: Setting[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const entry = parts[at + 1] ?? '';
    const end = entry.indexOf('\n');
    const key = end === -1 ? entry : entry.slice(0, end);
    settings.push({ scope: parts[at] ?? '', key, value: end === -1 ? null : entry.slice(end + 1) });
  }
  return settings;
}

/** The last value, which wins. */
export function settingOf(settings: readonly Setting[], key: string): string | null {
  return settings.findLast((setting) => setting.key === key)?.value ?? null;
}

export function isOn(value: string | null): boolean {
  return value !== null && /^(true|yes|on|[1-9]\d*)$/i.test(value);
}

/** Where the files of the repository are by its own configuration, or null when it does not say. */
export function configuredWorkTree(settings: readonly Setting[], gitDir: string): string | null {
  const value = settings.findLast(({ scope, key }) => ours(scope) && key === 'core.worktree')?.value ?? null;
  return value === null ? null : resolve(gitDir, value);
}

/** Where `core.hooksPath` puts the hooks below the common directory, as a path from there; empty when it does not. */
export function hooksWithin(commonDir: string, src: string, settings: readonly Setting[]): string[] {
  // Not what a git of ours is told.
  const configured = settings.filter(({ scope }) => scope !== 'command');
  const hooks = settingOf(configured, 'core.hookspath');
  const path = hooks === null ? '' : relative(commonDir, resolve(src, hooks));
  return path === '' || path === '..' || path.startsWith(`..${sep}`) ? [] : [path];
}

/** @param base what a relative address is relative to */
export function originOf(settings: readonly Setting[], base: string): OriginFact {
  const address = settings.find(({ key }) => key === 'remote.origin.url')?.value ?? null;
  if (address === null || address === '') {
    const section = settings.some(({ key }) => key === 'remote.origin.url');
    return section ? { state: 'unreadable', reason: 'remote.origin.url is empty' } : { state: 'none' };
  }
  const rules = settings.flatMap(({ key, value }) => {
    const found = /^url\.(.*)\.insteadof$/s.exec(key);
    return found?.[1] === undefined || value === null ? [] : [{ base: found[1], insteadOf: value }];
  });
  const url = publicAddress(rewrittenAddress(address, rules), base);
  if (url !== null) return { state: 'url', url };
  return { state: 'unreadable', reason: 'remote.origin.url is no address a clone can be given' };
}

/** What `git lfs install --local` writes: nothing a tree could have chosen. */
const LFS_VALUES: Readonly<Record<string, string>> = {
  'filter.lfs.clean': 'git-lfs clean -- %f',
  'filter.lfs.smudge': 'git-lfs smudge -- %f',
  'filter.lfs.process': 'git-lfs filter-process',
};

/** Names of filters the repository itself brings, which would run programs of its choice. */
export function ownFilters(settings: readonly Setting[]): string[] {
  const names = settings.flatMap(({ scope, key, value }) => {
    const found = /^filter\.(.*)\.(clean|smudge|process)$/s.exec(key);
    const ran = ours(scope) && found?.[1] !== undefined && value !== '' && LFS_VALUES[key] !== value;
    return ran ? [found[1] as string] : [];
  });
  return [...new Set(names)];
}

/** Settings that keep git from running these filters, or null when a name cannot be written as one. */
export function withoutFilters(names: readonly string[]): string[] | null {
  if (names.some((name) => name.includes('='))) return null;
  return names.flatMap((name) => [
    ...['clean', 'smudge', 'process'].map((part) => `filter.${name}.${part}=`),
    `filter.${name}.required=false`,
  ]);
}

/** What makes git run git-lfs, whatever is configured: it is on this machine, and these are its own words. */
export const lfsSettings: readonly string[] = [
  ...Object.entries(LFS_VALUES).map(([key, value]) => `${key}=${value}`),
  'filter.lfs.required=true',
];

function ours(scope: string): boolean {
  return scope === 'local' || scope === 'worktree';
}
