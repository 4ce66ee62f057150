import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { inspectSource, materialise, planMaterialise, treePathOf } from '../../src/index.ts';
import { commit, git, listing, makeWorld, planned, refusalOf, type World, write } from './support.ts';

/** Speaks git's long-running filter protocol and upper-cases what it gets, so that one sees that it ran. */
const FAKE_LFS = `#!${process.execPath}
const fs = require('node:fs');
if (process.argv[2] === 'version') { console.log('git-lfs/3.0.0'); process.exit(0); }
const read = (n) => { const b = Buffer.alloc(n); let got = 0; while (got < n) { const r = fs.readSync(0, b, got, n - got); if (r === 0) process.exit(0); got += r; } return b; };
const packet = () => { const n = parseInt(read(4).toString(), 16); return n === 0 ? null : read(n - 4); };
const list = () => { const all = []; for (let p = packet(); p !== null; p = packet()) all.push(p); return all; };
const send = (t) => { const b = Buffer.from(t); fs.writeSync(1, Buffer.concat([Buffer.from((b.length + 4).toString(16).padStart(4, '0')), b])); };
const flush = () => fs.writeSync(1, '0000');
list(); send('git-filter-server\\n'); send('version=2\\n'); flush();
list(); send('capability=clean\\n'); send('capability=smudge\\n'); flush();
for (;;) {
  list();
  const content = Buffer.concat(list());
  send('status=success\\n'); flush();
  send(content.toString().toUpperCase()); flush(); flush();
}
`;

let world: World;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  world = makeWorld();
  const bin = join(world.dir, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'git-lfs'), FAKE_LFS);
  chmodSync(join(bin, 'git-lfs'), 0o755);
  env = { PATH: `${bin}:${process.env.PATH}` };
  write(join(world.repo, 'assets', '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
  commit(world.repo, 'assets/a.bin', 'pointer\n');
  write(join(world.repo, '.git', 'lfs', 'objects', 'ab', 'cd', 'abcd'), 'large');
});
afterEach(() => world.clean());

describe('a repository that keeps files with git-lfs', () => {
  test('O33: is refused where git-lfs is not installed, with the way to do without, and leaves nothing', async () => {
    const before = listing(world.dir);
    expect(await refusalOf(world, { src: world.repo })).toBe('LFS_MISSING');
    expect(listing(world.dir)).toEqual(before);
  });

  test.each(['worktree', 'clone'] as const)(
    'O33: gives a %s with pointers on request, and they are no change',
    async (isolation) => {
      const plan = await planned(world, { src: world.repo, isolation }, { skipLfs: true });
      expect(plan.notices.join()).toContain('pointers');
      const { record } = await materialise(plan);
      expect(record.lfs_skipped).toBe(true);
      expect(readFileSync(join(record.worktree_path, 'assets/a.bin'), 'utf8')).toBe('pointer\n');
      expect(git(record.worktree_path, 'status', '--porcelain')).toBe('');
    },
  );

  test.each(['worktree', 'clone'] as const)(
    'gives a %s with the files where it is installed',
    async (isolation) => {
      const container = 'jk-aaaa1111-app-role';
      const decision = planMaterialise({
        mount: { src: world.repo, dst: '/w', isolation, readonly: false },
        facts: await inspectSource(world.repo, { env }),
        container,
        treePath: treePathOf(world.data(container), isolation, '/w', container),
        treeExists: 'no',
        workspace: 'app',
        selectorKey: 'role',
        contained: true,
        interactive: true,
        force: false,
        skipLfs: false,
      });
      if (decision.outcome !== 'make') throw new Error(decision.outcome);
      const { record } = await materialise(decision.plan, { env });
      expect(readFileSync(join(record.worktree_path, 'assets/a.bin'), 'utf8')).toBe('POINTER\n');
      expect(record.lfs_skipped).toBeUndefined();
      const kept = join(record.worktree_path, '.git', 'lfs', 'objects', 'ab', 'cd', 'abcd');
      expect(existsSync(kept)).toBe(isolation === 'clone');
    },
  );
});
