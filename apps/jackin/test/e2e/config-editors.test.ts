import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(300_000);

const ROUNDS = 8;
const TEXT = `# a workspace
version = "v1alpha9" # v
workdir = "/w" # where

[[mounts]] # the only one
src = "/srv" # s
dst = "/w"

[env] # e
KEPT = "kept" # k
`;

let sandbox: Sandbox;
let file: string;
beforeEach(async () => {
  sandbox = createSandbox();
  await sandbox.jackin(['workspace', 'create', 'app', '--mount', '/srv:/w']);
  file = join(sandbox.config, 'workspaces/app.toml');
  writeFileSync(file, TEXT);
});
afterEach(() => sandbox.dispose());

const text = () => readFileSync(file, 'utf8');
/** Every line that was there is there, in its order. */
const withoutNew = () => {
  const old = TEXT.split('\n').filter((line) => line !== '');
  return text()
    .split('\n')
    .filter((line) => old.includes(line));
};

test('two editors at once, and three more: every change lands, and every other line stays', async () => {
  const edits = [
    ['edit', 'app', '--exit-policy', 'keep'],
    ['edit', 'app', '--mount', '/opt:/w/opt'],
    ['edit', 'app', '--mount', '/var:/w/var:ro', '--default-agent', 'shell'],
    ['env', 'set', 'app', 'ONE=$ONE'],
    ['env', 'set', 'app', 'TWO=2', '--role', 'shell'],
  ];
  const runs = await Promise.all(edits.map((args) => sandbox.jackin(['workspace', ...args])));
  expect(runs.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual(edits.map(() => [0, '']));
  for (const line of [
    'dirty_exit_policy = "keep"',
    'dst = "/w/opt"',
    'dst = "/w/var"',
    'default_agent = "shell"',
    'ONE = "$ONE"',
    'TWO = "2"',
  ]) {
    expect(text()).toContain(line);
  }
  expect(withoutNew()).toEqual(TEXT.split('\n').filter((line) => line !== ''));
});

test(`kill -9 of an editor at any moment, ${ROUNDS} times: the file is the old one or the new one, and the next editor is not kept out`, async () => {
  let before = text();
  const started = performance.now();
  await sandbox.jackin(['workspace', 'env', 'set', 'app', 'WARM=up']);
  const wholeMs = performance.now() - started;
  before = text();
  for (let round = 0; round < ROUNDS; round += 1) {
    const value = `${'x'.repeat(5_000 * (round % 3))}${round}`;
    const editor = sandbox.start(['workspace', 'env', 'set', 'app', `N=${value}`]);
    await sleep(wholeMs * (0.4 + Math.random() * 0.6));
    editor.kill('SIGKILL');
    const { code } = await editor.done;
    const landed = text().includes(`N = "${value}"\n`);
    // What was acknowledged is there; what was not is there as a whole or not at all.
    if (code === 0) expect(landed).toBe(true);
    if (!landed) expect(text()).toBe(before);
    expect(withoutNew()).toEqual(TEXT.split('\n').filter((line) => line !== ''));
    before = text();
  }
  const next = await sandbox.jackin(['workspace', 'edit', 'app', '--exit-policy', 'keep']);
  expect([next.code, text().includes('dirty_exit_policy = "keep"')]).toEqual([0, true]);
  expect(readdirSync(join(sandbox.config, 'workspaces'))).toEqual(['app.toml']);
});
