import { existsSync, lstatSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { blobId, childOf, entries, shown, under } from './files.ts';
import { commitsFrom, type Objects, objectsOf } from './objects.ts';
import type { PlainGit } from './plain-git.ts';
import { gitDirOf, headOf, refsOf, stashesOf } from './refs.ts';
import type { SessionRefs, SessionTree, Truth, World } from './world.ts';

/** What one repository in a tree holds. */
export interface Holding {
  /** Its place in the tree, in bytes; empty for the tree itself. */
  place: string;
  /** Its objects. */
  objects: Objects;
  /** What is called by a name, a stash entry or HEAD. */
  tips: { name: string; id: string }[];
  /** Objects that were there before the session; they are not its work. */
  known: string[];
  /** Reachable from the tips, and not known before. */
  commits: Set<string>;
  /** One line for each file that is not as in the commit that is checked out, and for each operation in progress. */
  unfinished: string[];
}

const OPERATIONS = [
  'rebase-merge',
  'rebase-apply',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'sequencer',
];

/** Looks at everything in a tree: the repository it belongs to, and every other one below it. */
export function holdings(world: Pick<World, 'git' | 'tree' | 'session' | 'truth'>): Holding[] {
  const { tree, git, session, truth } = world;
  const places = repositoriesBelow(tree.path, truth);
  const outer = lookAt(git, tree.path, '', {
    truth,
    tips: tree.kind === 'worktree' ? ownTips(tree, session) : everyTip(tree.path),
    known: [tree.base, ...Object.values(tree.refsAtLaunch)],
    nested: places,
  });
  return [
    outer,
    ...places.map((place) => {
      const dir = under(tree.path, place).toString('utf8');
      const linked = gitDirOf(dir)?.includes('/worktrees/') && !gitDirOf(dir)?.includes('/modules/');
      const tips = linked ? checkedOut(dir) : everyTip(dir);
      return lookAt(git, dir, place, { truth, tips, known: [], nested: places });
    }),
  ];
}

function lookAt(
  git: PlainGit,
  dir: string,
  place: string,
  { truth, tips, known, nested }: { truth: Truth; tips: Holding['tips']; known: string[]; nested: string[] },
): Holding {
  const objects = objectsOf(dir);
  const gitDir = gitDirOf(dir);
  const operations = OPERATIONS.filter((name) => gitDir !== null && existsSync(join(gitDir, name)));
  return {
    place,
    objects,
    tips,
    known,
    commits: new Set(
      commitsFrom(
        objects,
        tips.map(({ id }) => id),
        known,
      ).keys(),
    ),
    unfinished: [
      ...operations.map((name) => `${name} in progress`),
      ...(gitDir === dir ? [] : unfinishedFiles(git, dir, objects, { place, truth, nested })),
    ],
  };
}

/** Every file against the commit that is checked out: by name, mode and content, the index apart from the files. */
function unfinishedFiles(
  git: PlainGit,
  dir: string,
  objects: Objects,
  { place, truth, nested }: { place: string; truth: Truth; nested: string[] },
): string[] {
  const head = objects.commit(headOf(dir) ?? '');
  const committed = head === null ? new Map<string, string>() : objects.files(head.tree);
  const { staged, absent } = indexEntries(git, dir);
  const found = new Map<string, string>();
  const walk = (parent: string, ignored: boolean): void => {
    for (const { name, entry } of entries(dir, parent)) {
      const path = childOf(parent, name);
      if (name === '.git') continue;
      if (entry.isDirectory()) {
        if (nested.includes(childOf(place, path))) continue;
        walk(path, ignored || truth.ignoredDirectories.has(name));
      } else {
        const hidden = ignored || [...truth.ignoredSuffixes].some((suffix) => name.endsWith(suffix));
        if (!hidden || staged.has(path)) found.set(path, fileState(dir, path));
      }
    }
  };
  walk('', false);
  const isLink = (state: string | undefined): boolean => state?.startsWith('160000') ?? false;
  const said = new Set<string>();
  for (const [path, state] of staged) {
    if (committed.get(path) !== state) said.add(`staged ${shown(path)}`);
    if (!isLink(state) && found.get(path) !== state && !(absent.has(path) && !found.has(path))) {
      said.add(`changed ${shown(path)}`);
    }
  }
  for (const path of committed.keys()) if (!staged.has(path)) said.add(`removed ${shown(path)}`);
  for (const path of found.keys()) if (!staged.has(path)) said.add(`new ${shown(path)}`);
  return [...said, ...movedLinks(dir, staged, isLink)];
}

/** A submodule whose commit is not the recorded one. */
function movedLinks(dir: string, staged: Map<string, string>, isLink: (state: string) => boolean): string[] {
  return [...staged]
    .filter(([path, state]) => {
      const inside = under(dir, path).toString('utf8');
      if (!isLink(state) || !existsSync(join(inside, '.git'))) return false;
      return headOf(inside) !== state.slice(-40);
    })
    .map(([path]) => `moved ${shown(path)}`);
}

function fileState(dir: string, path: string): string {
  const file = under(dir, path);
  const stats = lstatSync(file);
  if (stats.isSymbolicLink()) return `120000 ${blobId(readlinkSync(file, 'buffer'))}`;
  return `${stats.mode & 0o100 ? '100755' : '100644'} ${blobId(readFileSync(file))}`;
}

/** `absent`: entries that need not be there as files. */
function indexEntries(git: PlainGit, dir: string): { staged: Map<string, string>; absent: Set<string> } {
  const staged = new Map<string, string>();
  const absent = new Set<string>();
  for (const line of git(dir, ['ls-files', '-t', '--cached', '--stage', '-z']).out.split('\0')) {
    if (line === '') continue;
    const tab = line.indexOf('\t');
    const [tag, mode, id, stage] = line.slice(0, tab).split(' ');
    const path = line.slice(tab + 1);
    staged.set(path, stage === '0' ? `${mode} ${id}` : `unmerged ${id}`);
    if (tag === 'S') absent.add(path);
  }
  return { staged, absent };
}

/** A linked worktree's own: HEAD, what the session made with it, and refs of this worktree alone. */
function ownTips(tree: SessionTree, session: SessionRefs): Holding['tips'] {
  const stashes = new Set(stashesOf(tree.commonDir).filter((id) => session.stashes.has(id)));
  const own = [...refsOf(tree.path)].filter(
    ([name]) =>
      (name.startsWith('refs/heads/') && session.branches.has(name.slice('refs/heads/'.length))) ||
      (name.startsWith('refs/tags/') && session.tags.has(name.slice('refs/tags/'.length))) ||
      /^refs\/(worktree|bisect|rewritten)\//.test(name),
  );
  return [
    ...checkedOut(tree.path),
    ...own.map(([name, id]) => ({ name, id })),
    ...[...stashes].map((id) => ({ name: 'a stash', id })),
  ];
}

function everyTip(dir: string): Holding['tips'] {
  const refs = [...refsOf(dir)].filter(([name]) => !name.startsWith('refs/remotes/'));
  const gitDir = gitDirOf(dir);
  return [
    ...checkedOut(dir),
    ...refs.map(([name, id]) => ({ name, id })),
    ...(gitDir === null ? [] : stashesOf(gitDir).map((id) => ({ name: 'a stash', id }))),
  ];
}

function checkedOut(dir: string): Holding['tips'] {
  const id = headOf(dir);
  return id === null ? [] : [{ name: 'HEAD', id }];
}

/** Places of other repositories in a tree, those among dependencies left out. */
function repositoriesBelow(tree: string, truth: Truth): string[] {
  const found: string[] = [];
  const walk = (parent: string): void => {
    for (const { name, entry } of entries(tree, parent)) {
      const path = childOf(parent, name);
      if (!entry.isDirectory() || name === '.git' || truth.dependencyDirectories.has(name)) continue;
      const dir = under(tree, path);
      const has = (child: string): boolean =>
        statSync(Buffer.concat([dir, Buffer.from(`/${child}`)]), { throwIfNoEntry: false }) !== undefined;
      const bare = has('HEAD') && has('objects') && has('refs');
      if (has('.git') || bare) found.push(path);
      if (!bare) walk(path);
    }
  };
  walk('');
  return found;
}
