import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkIntegrity, lockedPrebuilds } from '../../apps/jackin/scripts/prebuilds.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const OLD_NODE = `node-${process.platform}-${process.arch}@18.20.8`;
const PREBUILDS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].map((at) => `node-pty-${at}`);
const BINARIES = PREBUILDS.map((name) => `@lydell/${name}`);

let root: string;
let tarball: string;
let installed: string;

/** An environment with an empty home and nothing of npm's or ours in it. */
const environment = () => ({
  PATH: `${join(process.execPath, '..')}:/usr/local/bin:/usr/bin:/bin`,
  HOME: join(root, 'home'),
  SHELL: '/bin/sh',
  JACKIN_HOME_DIR: join(root, 'state'),
  JACKIN_CONFIG_DIR: join(root, 'config'),
});

const jackin = (args: string[], node = process.execPath) => {
  const cli = join(root, 'prefix/bin/jackin');
  const options = {
    cwd: join(root, 'project'),
    env: environment(),
    encoding: 'utf8',
    timeout: 60_000,
  } as const;
  return spawnSync(node, [cli, ...args], options);
};

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'jk-packed-'));
  for (const name of ['home', 'config', 'project']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'config/config.toml'), '[runtime]\ndefault_backend = "standalone"\n');
  const script = join(REPOSITORY, 'apps/jackin/scripts/pack.ts');
  tarball = execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim();
  // --offline: an install that wanted anything from a registry fails here.
  const options = [
    '--offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefix',
    join(root, 'prefix'),
  ];
  execFileSync('npm', ['install', '--global', ...options, tarball], { env: environment(), cwd: root });
  installed = join(root, 'prefix/lib/node_modules/jackin');
}, 180_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

test('The package brings the terminal binaries of every platform and no install script', () => {
  expect(readdirSync(join(installed, 'node_modules/@lydell')).sort()).toEqual([...PREBUILDS].sort());
  for (const name of PREBUILDS) {
    expect(existsSync(join(installed, 'node_modules/@lydell', name, 'pty.node'))).toBe(true);
  }
  const manifests = ['.', ...PREBUILDS.map((name) => join('node_modules/@lydell', name))].map((dir) =>
    JSON.parse(readFileSync(join(installed, dir, 'package.json'), 'utf8')),
  );
  expect(manifests.flatMap(({ scripts }) => Object.keys(scripts ?? {}))).toEqual([]);
  expect(manifests[0].dependencies).toBeUndefined();
});

test('The package carries the licence of everything in it', () => {
  const notices = readFileSync(join(installed, 'THIRD_PARTY_NOTICES'), 'utf8');
  const named = Array.from(notices.matchAll(/^-{80}\n\n(\S+) \d+\.\d+/gm), ([, name]) => name);
  const expected = ['@oclif/core', '@xterm/headless', 'zod', 'smol-toml', '@lydell/node-pty', ...BINARIES];
  expect(named).toEqual(expect.arrayContaining(expected));
  expect(named.filter((name) => name?.startsWith('@jackin/') || name === 'jackin')).toEqual([]);
  expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toContain('Apache License');
});

test('The installed command line answers doctor with one document', () => {
  const { stdout, stderr, status } = jackin(['doctor', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ schema_version: 'v1', data: { findings: expect.any(Array) } });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
});

test('The installed command line runs a session and cleans it up', () => {
  const load = ['load', 'shell', '.', '--agent', 'shell', '--new', '--detach', '--json'];
  const loaded = jackin([...load, '--backend', 'standalone']);
  expect(loaded).toMatchObject({ status: 0 });
  const { instance_id: id } = JSON.parse(loaded.stdout).data;
  const stopped = jackin(['stop', id, '--clean', '--json']);
  expect(JSON.parse(stopped.stdout)).toMatchObject({ data: { instance_id: id, outcome: 'cleaned' } });
  expect(readdirSync(join(root, 'state/data')).filter((name) => name.includes(id))).toEqual([]);
});

test('On Node 18 it says in one sentence what to install', () => {
  const dir = join(root, 'node18');
  mkdirSync(dir);
  execFileSync('npm', ['pack', OLD_NODE, '--prefer-offline', '--silent', '--pack-destination', dir], {
    cwd: dir,
  });
  const [file = ''] = readdirSync(dir);
  execFileSync('tar', ['-xzf', join(dir, file), '-C', dir]);
  const { stdout, stderr, status } = jackin(['doctor'], join(dir, 'package/bin/node'));
  expect(stderr).toMatch(/^jackin needs Node 22\.22, 24\.15 or newer and this is Node 18\.20\.8: .+\n$/);
  expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
}, 120_000);

test('Bytes that are not what the lock file promises are refused', () => {
  const [prebuild] = lockedPrebuilds(JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8')));
  const tampered = () => checkIntegrity('a prebuild', Buffer.from('tampered'), prebuild?.integrity ?? '');
  expect(tampered).toThrow(/^a prebuild has integrity sha512-.+, the lock file says sha512-/);
});

test('A prebuild that the lock file does not pin stops the packing', () => {
  expect(() => lockedPrebuilds({ packages: {} })).toThrow(
    'package-lock.json pins no version and integrity of @lydell/node-pty-linux-x64',
  );
});
