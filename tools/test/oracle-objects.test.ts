import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { addReachable, commitsFrom, objectsOf } from '../oracle/objects.ts';
import { lines, mustSucceed, plainGit } from '../oracle/plain-git.ts';
import { headOf, refsOf } from '../oracle/refs.ts';

let root: string;
let git: (dir: string, ...args: string[]) => string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'jackin-objects-'));
  const plain = plainGit();
  git = (dir, ...args) => mustSucceed(plain, dir, args);
});

afterEach(() => rmSync(root, { recursive: true }));

/** With merges, tags of both kinds, a stash, files that differ in a line each, and a name that is not UTF-8. */
function repository(): string {
  const dir = join(root, 'app');
  git(root, 'init', '--quiet', dir);
  const commit = (message: string): void => {
    git(dir, 'add', '--all');
    git(dir, 'commit', '--quiet', '--message', message);
  };
  for (let number = 0; number < 6; number += 1) {
    appendFileSync(join(dir, 'long.txt'), `${`${number} `.repeat(200)}\n`.repeat(20));
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from('odd-\xff', 'latin1')]), `${number}`);
    commit(`change ${number}`);
  }
  git(dir, 'switch', '--quiet', '--create', 'side', 'HEAD~2');
  writeFileSync(join(dir, 'side.txt'), 'side\n');
  commit('side');
  git(dir, 'tag', '--annotate', '--message', 'a tag', 'v1');
  git(dir, 'switch', '--quiet', 'main');
  git(dir, 'merge', '--quiet', '--no-edit', 'side');
  git(dir, 'tag', 'light');
  writeFileSync(join(dir, 'long.txt'), 'stashed\n');
  git(dir, 'stash', 'push', '--quiet');
  return dir;
}

const STORES: [string, (dir: string) => void][] = [
  ['in files of their own', () => {}],
  ['in a pack', (dir) => void git(dir, 'gc', '--quiet')],
  ['partly in a pack', partly],
  ['in another repository', elsewhere],
];

test.each(STORES)('objects %s are read as git reads them', (_where, store) => {
  const dir = repository();
  store(dir);
  const objects = objectsOf(dir);
  const found = new Set<string>();
  addReachable(objects, refsOf(dir).values(), found);
  const told = lines(git(dir, 'rev-list', '--objects', '--all')).map((line) => line.slice(0, 40));
  expect([...found].sort()).toEqual([...new Set(told)].sort());
  const head = objects.commit(headOf(dir) ?? '');
  const files = [...objects.files(head?.tree ?? '')].map(([path, what]) => `${what}\t${path}`);
  const listed = git(dir, 'ls-tree', '-r', '-z', 'HEAD').split('\0').slice(0, -1);
  expect(files.sort()).toEqual(listed.map((line) => line.replace(' blob ', ' ')).sort());
  const ahead = commitsFrom(objects, [headOf(dir) ?? ''], [git(dir, 'rev-parse', 'v1').trim()]);
  expect([...ahead.keys()].sort()).toEqual(lines(git(dir, 'rev-list', 'v1..HEAD')).sort());
});

test('an object that is missing or damaged is not taken for there', () => {
  const dir = repository();
  const tree = objectsOf(dir).commit(headOf(dir) ?? '')?.tree ?? '';
  const file = join(dir, '.git/objects', tree.slice(0, 2), tree.slice(2));
  const another = git(dir, 'rev-parse', 'HEAD~1^{tree}').trim();
  const content = readFileSync(join(dir, '.git/objects', another.slice(0, 2), another.slice(2)));
  rmSync(file);
  const reach = (): void => addReachable(objectsOf(dir), [headOf(dir) ?? ''], new Set());
  expect(reach).toThrow(`the object ${tree} is missing`);
  writeFileSync(file, content);
  expect(reach).toThrow(`the object ${tree} is damaged`);
});

function partly(dir: string): void {
  git(dir, 'gc', '--quiet');
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', 'after the pack');
}

/** As `git clone --shared` leaves it. */
function elsewhere(dir: string): void {
  const store = join(root, 'store');
  git(root, 'clone', '--quiet', '--bare', '--mirror', dir, store);
  rmSync(join(dir, '.git/objects'), { recursive: true });
  git(dir, 'init', '--quiet');
  writeFileSync(join(dir, '.git/objects/info/alternates'), `${join(store, 'objects')}\n`);
}
