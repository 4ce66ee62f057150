import { join } from 'node:path';
import { Doubt } from './doubt.ts';
import type { Repository } from './git-directory.ts';
import type { AssessLimits } from './limits.ts';
import { printable, text } from './names.ts';
import { type AnyPath, below, entriesOf, list, readRegular } from './read.ts';
import { type RefValue, readRefValue } from './ref-value.ts';
import { readRootRefs } from './root-refs.ts';

export interface Refs {
  head: Head;
  /** Full name (bytes as latin1), beside `refs/` too, to object id; symbolic ones resolved, dangling ones left out. */
  all: ReadonlyMap<string, string>;
}

export interface Head {
  /** Full name of the branch, null when detached. */
  ref: string | null;
  /** Null before the first commit. */
  commit: string | null;
}

const MAX_HOPS = 5;
export const PER_WORKTREE = /^refs\/(bisect|worktree|rewritten)\//;

/**
 * All refs, read by our own code: git would follow links and wait for pipes.
 * @throws Doubt for a ref that is a link, is damaged, or when there are too many
 */
export function readRefs(
  repository: Repository,
  limits: AssessLimits,
  { besideRefs = readRootRefs }: { besideRefs?: typeof readRootRefs } = {},
): Refs {
  const { gitDir, commonDir } = repository;
  const found = new Map<string, RefValue>();
  const linked = gitDir !== commonDir;
  for (const [name, id] of packedRefs(commonDir, limits)) found.set(name, { id });
  readLoose(found, commonDir, limits, (name) => !(linked && PER_WORKTREE.test(name)));
  if (linked) readLoose(found, gitDir, limits, (name) => PER_WORKTREE.test(name), true);
  for (const [name, value] of besideRefs(commonDir, 'shared')) found.set(name, value);
  for (const [name, value] of besideRefs(gitDir, 'own')) found.set(name, value);
  if (found.size > limits.refs) throw new Doubt(`there are more than ${limits.refs} refs`);
  const all = new Map<string, string>();
  for (const name of found.keys()) {
    const id = resolveRef(found, name);
    if (id !== null) all.set(name, id);
  }
  if (!linked) addOtherWorktrees(all, found, commonDir, limits);
  if (all.size > limits.refs) throw new Doubt(`there are more than ${limits.refs} refs`);
  return { head: readHead(gitDir, found), all };
}

/** Of the other worktrees of this repository: refs of their own, and where one is that is on no branch. */
function addOtherWorktrees(
  all: Map<string, string>,
  found: ReadonlyMap<string, RefValue>,
  commonDir: string,
  limits: AssessLimits,
): void {
  const worktrees = join(commonDir, 'worktrees');
  for (const entry of list(worktrees) ?? []) {
    const gitDir = below(worktrees, entry.name);
    if (!entry.isDirectory()) throw new Doubt(`${printable(gitDir)} is not a directory of its own`);
    const own = readRootRefs(gitDir, 'own');
    readLoose(own, gitDir, limits, (name) => PER_WORKTREE.test(name), true);
    const known = { get: (name: string) => own.get(name) ?? found.get(name) };
    for (const name of own.keys()) {
      const id = resolveRef(known, name);
      if (id !== null) all.set(`worktrees/${entry.name}/${name}`, id);
    }
    const head = readRefValue(below(gitDir, 'HEAD'));
    if (head !== null && 'id' in head) all.set(`worktrees/${entry.name}/HEAD`, head.id);
  }
}

function readHead(gitDir: string, found: ReadonlyMap<string, RefValue>): Head {
  const value = readRefValue(join(gitDir, 'HEAD'));
  if (value === null) throw new Doubt('HEAD is missing');
  if ('id' in value) return { ref: null, commit: value.id };
  return { ref: value.symbolic, commit: resolveRef(found, value.symbolic) };
}

function resolveRef(found: Pick<ReadonlyMap<string, RefValue>, 'get'>, name: string): string | null {
  let value = found.get(name);
  for (let hops = 0; hops < MAX_HOPS && value !== undefined; hops += 1) {
    if ('id' in value) return value.id;
    value = found.get(value.symbolic);
  }
  return null;
}

function readLoose(
  found: Map<string, RefValue>,
  root: AnyPath,
  limits: AssessLimits,
  wanted: (name: string) => boolean,
  optional = false,
): void {
  const waiting = ['refs'];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const directory = below(root, name);
    if (name === 'refs' && list(directory) === null) {
      if (optional) return;
      throw new Doubt('refs are missing');
    }
    for (const entry of entriesOf(directory)) {
      const full = `${name}/${entry.name}`;
      if (entry.isDirectory()) {
        if (full.split('/').length > limits.depth) throw new Doubt('refs lie too deep');
        waiting.push(full);
      } else if (!entry.name.endsWith('.lock') && wanted(full)) {
        const value = readRefValue(below(root, full));
        if (value !== null) found.set(full, value);
        if (found.size > limits.refs) throw new Doubt(`there are more than ${limits.refs} refs`);
      }
    }
  }
}

function packedRefs(commonDir: string, limits: AssessLimits): [string, string][] {
  const path = join(commonDir, 'packed-refs');
  const read = readRegular(path, limits.fileBytes);
  if (read === null) return [];
  const refs: [string, string][] = [];
  for (const line of read.bytes.toString('latin1').split('\n')) {
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue;
    const [, id, name] = /^([0-9a-f]{40}|[0-9a-f]{64}) (\S[^\0]*)$/.exec(line) ?? [];
    if (id === undefined || name === undefined) throw new Doubt(`${printable(path)} is damaged`);
    if (!PER_WORKTREE.test(name)) refs.push([name, id]);
    if (refs.length > limits.refs) throw new Doubt(`there are more than ${limits.refs} refs`);
  }
  return refs;
}

/** Short for a branch, full for anything else. */
export function shownRef(name: string): string {
  return text(name.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : name);
}
