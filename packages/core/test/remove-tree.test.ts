import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { removeTree } from '../src/index.ts';
import { CAN_MOUNT, failureOf, onCleanup, scratchDir } from './helpers.ts';

function treeWith(files: string[]): { inside: string; tree: string } {
  const inside = scratchDir();
  const tree = join(inside, 'jk-1');
  for (const file of files) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), file);
  }
  return { inside, tree };
}

describe('removeTree', () => {
  test('a deep tree, a single file and a missing path are all gone afterwards', async () => {
    const { inside, tree } = treeWith(['a/b/c/d', 'a/.hidden', 'e']);
    writeFileSync(join(inside, 'single'), '');
    await removeTree(tree, { inside });
    await removeTree(join(inside, 'single'), { inside });
    await removeTree(tree, { inside });
    expect(readdirSync(inside)).toEqual([]);
  });

  test('links in the tree, and the tree being a link, are removed without touching their targets', async () => {
    const outside = scratchDir();
    writeFileSync(join(outside, 'precious'), 'x');
    const { inside, tree } = treeWith(['a/f']);
    symlinkSync(outside, join(tree, 'a', 'dir-link'));
    symlinkSync(join(outside, 'precious'), join(tree, 'file-link'));
    symlinkSync('/nowhere', join(tree, 'dangling'));
    symlinkSync(outside, join(inside, 'jk-link'));
    await removeTree(tree, { inside });
    await removeTree(join(inside, 'jk-link'), { inside });
    expect(readdirSync(inside)).toEqual([]);
    expect(readdirSync(outside)).toEqual(['precious']);
  });

  test('whatever path is asked for, nothing outside the given directory is ever removed', async () => {
    const part = fc.constantFrom('..', '.', 'a', 'b', 'up', 'abs', 'self', '', 'data-evil');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), fc.boolean(), async (parts, absolute) => {
        const root = scratchDir();
        const inside = join(root, 'data');
        mkdirSync(join(inside, 'a', 'b'), { recursive: true });
        mkdirSync(join(root, 'data-evil'));
        for (const dir of [root, join(root, 'data-evil')]) writeFileSync(join(dir, 'precious'), 'x');
        symlinkSync('../..', join(inside, 'a', 'up'));
        symlinkSync(root, join(inside, 'abs'));
        symlinkSync('.', join(inside, 'self'));
        const path = absolute ? ['', ...parts].join('/') : [inside, ...parts].join('/');
        // Absolute paths of the machine are only tried when they are refused by spelling alone.
        fc.pre(!absolute || !resolve(path).startsWith(inside));
        const outcome = await removeTree(path, { inside }).then(
          () => 'removed',
          (error) => error.code,
        );
        if (outcome === 'removed')
          expect(lstatSync(resolve(path), { throwIfNoEntry: false })).toBeUndefined();
        else expect(outcome).toBe('PATH_OUTSIDE');
        expect(existsSync(inside)).toBe(true);
        expect(readFileSync(join(root, 'precious'), 'utf8')).toBe('x');
        expect(readFileSync(join(root, 'data-evil', 'precious'), 'utf8')).toBe('x');
      }),
      { numRuns: 150 },
    );
  });

  test.each(['abs/data-evil', 'abs/precious', 'a/up/data-evil/precious', 'self/abs/data-evil'])(
    'a path that leaves the directory through a link, %s, is refused',
    async (path) => {
      const root = scratchDir();
      const inside = join(root, 'data');
      mkdirSync(join(inside, 'a'), { recursive: true });
      mkdirSync(join(root, 'data-evil'));
      for (const dir of [root, join(root, 'data-evil')]) writeFileSync(join(dir, 'precious'), 'x');
      symlinkSync('../..', join(inside, 'a', 'up'));
      symlinkSync(root, join(inside, 'abs'));
      symlinkSync('.', join(inside, 'self'));
      expect((await failureOf(removeTree(join(inside, path), { inside }))).code).toBe('PATH_OUTSIDE');
      expect(existsSync(join(root, 'precious'))).toBe(true);
      expect(existsSync(join(root, 'data-evil', 'precious'))).toBe(true);
    },
  );

  test('a state directory that is itself behind a link still works', async () => {
    const { inside, tree } = treeWith(['f']);
    const alias = join(scratchDir(), 'alias');
    symlinkSync(inside, alias);
    await removeTree(join(alias, 'jk-1'), { inside: alias });
    expect(existsSync(tree)).toBe(false);
  });

  test('the entries named as last survive everything else, in their order', async () => {
    const { inside, tree } = treeWith([
      '.jackin/instance.json',
      '.jackin/isolation.json',
      'home/x',
      '.jackin/other',
    ]);
    const order: string[] = [];
    const watched = join(tree, '.jackin');
    const watcher = watch(watched, (event, name) => {
      if (event === 'rename' && name !== null) order.push(name);
    });
    onCleanup(() => watcher.close());
    await removeTree(tree, { inside, last: ['.jackin/isolation.json', '.jackin/instance.json'] });
    expect(existsSync(tree)).toBe(false);
    await new Promise((done) => setImmediate(done));
    expect(order.filter((name) => name.endsWith('n') || name === 'other').slice(0, 3)).toEqual([
      'other',
      'isolation.json',
      'instance.json',
    ]);
  });

  test('a last entry whose directory became a link does not lead the removal outside', async () => {
    const outside = scratchDir();
    writeFileSync(join(outside, 'instance.json'), 'precious');
    const { inside, tree } = treeWith(['home/x']);
    symlinkSync(outside, join(tree, '.jackin'));
    await removeTree(tree, { inside, last: ['.jackin/instance.json'] });
    expect(existsSync(tree)).toBe(false);
    expect(readFileSync(join(outside, 'instance.json'), 'utf8')).toBe('precious');
  });

  test.each(['../sibling', '/etc/passwd', '', 'a/../../b'])(
    'a last entry %j is refused before anything is removed',
    async (entry) => {
      const { inside, tree } = treeWith(['f']);
      expect((await failureOf(removeTree(tree, { inside, last: [entry] }))).code).toBe('PATH_OUTSIDE');
      expect(readdirSync(tree)).toEqual(['f']);
    },
  );

  test('directories without write permission and names that are not UTF-8 go too', async () => {
    const { inside, tree } = treeWith(['mod/cache/f']);
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/mod/`), Buffer.from([0xff, 0xfe, 0x0a])]), '');
    chmodSync(join(tree, 'mod', 'cache'), 0o555);
    chmodSync(join(tree, 'mod'), 0o500);
    await removeTree(tree, { inside });
    expect(existsSync(tree)).toBe(false);
  });

  test('a tree with thousands of files is removed', async () => {
    const { inside, tree } = treeWith(Array.from({ length: 3_000 }, (_, n) => `d${n % 7}/f${n}`));
    await removeTree(tree, { inside });
    expect(readdirSync(inside)).toEqual([]);
  });

  if (CAN_MOUNT) {
    test('a bind mount inside the tree stops the removal before it begins', async () => {
      const precious = scratchDir();
      writeFileSync(join(precious, 'work'), 'x');
      const { inside, tree } = treeWith(['home/f']);
      const point = join(tree, 'home', 'with space');
      mkdirSync(point);
      execFileSync('mount', ['--bind', precious, point]);
      onCleanup(() => {
        execFileSync('umount', [point]);
      });
      const error = await failureOf(removeTree(tree, { inside }));
      expect(error).toMatchObject({ code: 'TREE_HAS_MOUNT', details: { path: point } });
      expect(readFileSync(join(precious, 'work'), 'utf8')).toBe('x');
      expect(existsSync(join(tree, 'home', 'f'))).toBe(true);
    });
  } else {
    test('a directory whose parent denies it cannot be removed, and the error names it', async () => {
      const { inside, tree } = treeWith(['f']);
      chmodSync(inside, 0o500);
      onCleanup(() => chmodSync(inside, 0o700));
      const error = await failureOf(removeTree(tree, { inside }));
      expect(error).toMatchObject({ code: 'STATE_NOT_WRITABLE', message: expect.stringContaining(tree) });
    });
  }

  test('someone who keeps writing into the tree gets an error, not an endless loop', async () => {
    const { inside, tree } = treeWith(Array.from({ length: 200 }, (_, n) => `busy/f${n}`));
    let turn = 0;
    const timer = setInterval(() => {
      try {
        writeFileSync(join(tree, 'busy', `new${turn++}`), '');
        renameSync(join(tree, 'busy', `new${turn - 1}`), join(tree, 'busy', `again${turn}`));
      } catch {
        // The directory may be gone for good.
      }
    }, 0);
    onCleanup(() => clearInterval(timer));
    const outcome = await removeTree(tree, { inside }).then(
      () => null,
      (error) => error.code,
    );
    expect([null, 'TREE_IN_USE']).toContain(outcome);
  });
});
