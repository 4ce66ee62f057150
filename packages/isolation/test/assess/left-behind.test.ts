import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ownPrefix, removeLeftBehind } from '../../src/assess/left-behind.ts';

const LATER = Date.now() + 2 * 60 * 60_000;
/** Of a process that has ended. */
const DEAD = spawnSync(process.execPath, ['-e', '']).pid;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'jk-left-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('what a killed assessment left goes an hour later, and nothing else', () => {
  const dead = `jackin-assess-${DEAD}-abc123`;
  const stay = [`${ownPrefix()}abc123`, 'jackin-assess-1-init', 'jackin-assess-abc123', 'mine'];
  for (const name of [dead, ...stay]) mkdirSync(join(root, name));
  writeFileSync(join(root, dead, 'index'), 'x');
  mkdirSync(join(root, 'target'));
  symlinkSync(join(root, 'target'), join(root, `jackin-assess-${DEAD}-link`));
  const before = readdirSync(root).sort();
  removeLeftBehind(root);
  expect(readdirSync(root).sort()).toEqual(before);
  removeLeftBehind(root, LATER);
  expect(readdirSync(root).sort()).toEqual(before.filter((name) => name !== dead));
});

test('one that was touched a moment ago stays', () => {
  const dead = join(root, `jackin-assess-${DEAD}-abc123`);
  mkdirSync(dead);
  utimesSync(dead, new Date(LATER), new Date(LATER));
  removeLeftBehind(root, LATER);
  expect(readdirSync(root)).toHaveLength(1);
});

test('a directory that cannot be looked at is no failure', () => {
  expect(() => removeLeftBehind(join(root, 'missing'))).not.toThrow();
});
