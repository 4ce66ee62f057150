import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Exit } from '../oracle/history.ts';
import { type Histories, startHistories } from '../oracle/run.ts';
import { type Mistake, plausibleExit } from './support/plausible-exit.ts';

let histories: Histories;

beforeAll(() => {
  histories = startHistories();
});

afterAll(async () => {
  await histories[Symbol.asyncDispose]();
});

/** Found by trying one after the other: the exit without the mistake keeps these trees, the one with it does not. */
const CAUGHT: [Mistake, number[]][] = [
  ['takes a gone upstream for landed', [73]],
  ['forgets stashes', [17, 71]],
  ['trusts the settings of the repository', [42, 47]],
  ['looks at HEAD only', [23, 124]],
  ['overlooks nested repositories', [11, 36]],
];

test.each(CAUGHT)(
  'an exit that %s is caught, and without that mistake it is not',
  async (mistake, seeds) => {
    for (const seed of seeds) {
      const kind = seed % 2 === 0 ? 'worktree' : 'clone';
      const mistaken = await histories.run(seed, { kind, exit: plausibleExit(mistake) });
      expect(mistaken).toMatchObject({ kept: false, safe: false });
      expect(mistaken.losses).not.toEqual([]);
      const careful = await histories.run(seed, { kind, exit: plausibleExit(null) });
      expect(careful).toMatchObject({ kept: true, losses: [], steps: mistaken.steps });
    }
  },
  120_000,
);

const touching: [string, Exit, RegExp][] = [
  ['writes into a tree that stays', async ({ path }) => write(join(path, 'mark')), /^tree: .*mark.* is new/],
  ['removes half of a tree', async ({ path }) => remove(join(path, '.gitignore')), /^tree: .* is gone/],
  ['writes to the host repository', async ({ host }) => write(join(host, '.git/config')), /^host: .*config/],
  ['leaves a mark on the remote', async ({ host }) => write(join(host, '../remote.git/mark')), /^remote: /],
];

test.each(touching)(
  'an exit that %s is caught',
  async (_what, exit, told) => {
    const { losses } = await histories.run(3, { kind: 'clone', exit });
    expect(losses).toContainEqual(expect.stringMatching(told));
  },
  60_000,
);

test('the same seed makes the same history', async () => {
  const keep: Exit = async () => '';
  const first = await histories.run(7, { kind: 'clone', exit: keep });
  const second = await histories.run(7, { kind: 'clone', exit: keep });
  expect({ ...second, root: '' }).toEqual({ ...first, root: '' });
}, 60_000);

function write(path: string): string {
  writeFileSync(path, '');
  return 'kept';
}

function remove(path: string): string {
  rmSync(path);
  return 'kept';
}
