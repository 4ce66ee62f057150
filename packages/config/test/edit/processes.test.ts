import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { editConfig } from '@jackin/config';
import { acquireLock } from '@jackin/core';
import { expect, test } from '@jest/globals';
import { parseToml } from '../../src/document/index.ts';
import { scratch } from '../helpers.ts';
import { killDuringSaves, startSaver } from '../support/kill-saves.ts';

const COMMENTED = `# head, ü\nversion = "v1alpha10"  # v\n\n[env] # e\nA = "b" # kept\n# tail\n`;
/** Dozens of processes, on a machine that may be busy. */
const LONG_MS = 5 * 60_000;

test(
  'two editors at once: the changes of both land, and nothing else changes',
  async () => {
    await using s = await scratch({ 'config.toml': COMMENTED });
    const each = 12;
    const savers = ['ONE', 'TWO'].map((name) => startSaver(s.paths, name, 0, each));
    const said = await Promise.all(
      savers.map(async (saver) => {
        const numbers: number[] = [];
        for (let number = await saver.next(); number !== null; number = await saver.next())
          numbers.push(number);
        return numbers;
      }),
    );
    const all = Array.from({ length: each }, (_, number) => number);
    expect(said).toEqual([all, all]);
    const text = await readFile(join(s.configDir, 'config.toml'), 'utf8');
    expect(parseToml(text)).toMatchObject({
      env: { A: 'b', ONE: '11', TWO: '11' },
      saved: { ONE: all, TWO: all },
    });
    const old = text.split('\n').filter((line) => !/^(ONE|TWO|\[saved\]$|$)/.test(line));
    expect(old).toEqual(COMMENTED.split('\n').filter((line) => line !== ''));
  },
  LONG_MS,
);

test(
  'kill -9 in the middle of a save, 20 times: the file is whole, and no acknowledged change is lost',
  async () => {
    await using s = await scratch({ 'config.toml': COMMENTED });
    const report = await killDuringSaves(s.paths, { kills: 20, random: Math.random, pauseMs: 25 });
    expect(report.kills).toBe(20);
    expect(report.acknowledged).toBeGreaterThanOrEqual(20);
    // The next editor is not kept out by the lock of a dead one, and sweeps what it left.
    await editConfig(s.paths, [{ path: ['env', 'A'], set: 'after' }], { events: () => {}, waitMs: 0 });
    expect((await readdir(s.configDir)).sort()).toEqual(['config.lock', 'config.toml']);
    expect((await s.load()).config.env).toMatchObject({ A: 'after', K: String(report.acknowledged) });
  },
  LONG_MS,
);

test('a lock held by a living process is waited for, then told with its holder, and the file stays as it is', async () => {
  await using s = await scratch({ 'config.toml': COMMENTED });
  const lock = await acquireLock(join(s.configDir, 'config.lock'), {
    purpose: 'edit workspace other',
    locksDb: s.paths.locksDb,
    waitMs: 0,
  });
  const edit = (waitMs: number) =>
    editConfig(s.paths, [{ path: ['env', 'A'], set: 'x' }], { events: () => {}, waitMs });
  await expect(edit(0)).rejects.toMatchObject({
    code: 'LOCK_HELD',
    message: expect.stringMatching(
      `config.lock is held by process ${process.pid} \\(edit workspace other\\)`,
    ),
    hint: expect.stringContaining(`ps -p ${process.pid}`),
  });
  expect(await readFile(join(s.configDir, 'config.toml'), 'utf8')).toBe(COMMENTED);
  const waiting = edit(30_000);
  await lock.release();
  await expect(waiting).resolves.toMatchObject({ changed: true });
});
