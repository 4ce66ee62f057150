import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createWorkspace, editConfig, migrateOperatorFiles, removeWorkspace } from '@jackin/config';
import { resolvePaths } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Scratch, scratch } from './helpers.ts';

const OPTIONS = { events: () => {}, waitMs: 0 };
const CURRENT = 'version = "v1alpha10"\n# kept\n';
const root = process.platform === 'linux' && process.getuid?.() === 0;

/** Only root on Linux can mount a disk of its own. */
(root ? describe : describe.skip)('on a disk', () => {
  let s: Scratch;
  const configFile = () => join(s.configDir, 'config.toml');
  const set = (value: string) => editConfig(s.paths, [{ path: ['env', 'A'], set: value }], OPTIONS);

  beforeEach(async () => {
    s = await scratch({}, ['config/']);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k,mode=0700', 'none', s.configDir]);
    await writeFile(configFile(), CURRENT);
    await set('before');
  });
  afterEach(async () => {
    execFileSync('umount', ['-l', s.configDir]);
    await s[Symbol.asyncDispose]();
  });

  test('that is full, an edit is refused by file, the file is as it was, and nothing is left over', async () => {
    const before = await readFile(configFile(), 'utf8');
    const { bavail, bsize } = await statfs(s.configDir);
    // Room for the lock and for the beginning of the new content.
    await writeFile(join(s.configDir, 'ballast'), Buffer.alloc((bavail - 4) * bsize));
    const edits = [
      () => set('x'.repeat(60_000)),
      () => createWorkspace(s.paths, 'w', workspace(60_000), OPTIONS),
    ];
    for (const edit of edits) {
      await expect(edit()).rejects.toMatchObject({
        code: 'DISK_FULL',
        message: expect.stringMatching(/Cannot write .*\/(config|workspaces\/w)\.toml: no space left/),
        hint: expect.stringContaining('df -h'),
      });
    }
    expect(await readFile(configFile(), 'utf8')).toBe(before);
    expect((await readdir(s.configDir, { recursive: true })).sort()).toEqual(
      ['ballast', 'config.lock', 'config.toml', 'workspaces'].sort(),
    );
  });

  test('that is read-only, every change is refused by name, and reading goes on', async () => {
    await writeFile(configFile(), '# kept\n');
    execFileSync('mount', ['-o', 'remount,ro', s.configDir]);
    const refusal = {
      code: 'STATE_NOT_WRITABLE',
      message: expect.stringMatching(`${s.configDir}.*read-only`),
      hint: expect.stringContaining('JACKIN_CONFIG_DIR'),
    };
    await expect(set('after')).rejects.toMatchObject(refusal);
    await expect(migrateOperatorFiles(s.paths, OPTIONS)).rejects.toMatchObject(refusal);
    await expect(createWorkspace(s.paths, 'w', workspace(1), OPTIONS)).rejects.toMatchObject(refusal);
    await expect(removeWorkspace(s.paths, 'w', OPTIONS)).rejects.toMatchObject(refusal);
    expect(await readFile(configFile(), 'utf8')).toBe('# kept\n');
    expect((await s.load()).config.version).toBe('v1alpha10');
  });

  test('that is read-only, current files need no migration', async () => {
    execFileSync('mount', ['-o', 'remount,ro', s.configDir]);
    await expect(migrateOperatorFiles(s.paths, OPTIONS)).resolves.toEqual([]);
  });
});

function workspace(size: number): Record<string, unknown> {
  return { workdir: '/w', mounts: [{ src: '/s', dst: '/w' }], env: { A: 'x'.repeat(size) } };
}

test('a file its reader may not read is an error that names it, for loading and editing, and stays as it is', async () => {
  await using s = await scratch({ 'config.toml': CURRENT });
  const file = join(s.configDir, 'config.toml');
  await chmod(file, 0o000);
  const outcome = await asNobody(s);
  for (const error of [outcome.loaded, outcome.edited]) {
    expect(error).toMatchObject({ code: 'STATE_NOT_READABLE', message: expect.stringContaining(file) });
    expect(error?.hint).toContain(`ls -ld ${s.configDir} ${file}`);
  }
  await chmod(file, 0o600);
  expect(await readFile(file, 'utf8')).toBe(CURRENT);
});

/** Root may read everything, so somebody else has to try. */
async function asNobody(
  s: Scratch,
): Promise<Record<'loaded' | 'edited', { code: string; hint: string } | null>> {
  const fixture = fileURLToPath(new URL('fixtures/load.ts', import.meta.url));
  const env = { ...process.env, JACKIN_CONFIG_DIR: s.configDir, JACKIN_HOME_DIR: s.paths.homeDir };
  if (root) execFileSync('chown', ['-R', '65534:65534', s.root]);
  const args = ['--conditions=@jackin/source', '--disable-warning=ExperimentalWarning', fixture];
  const identity = root ? { uid: 65_534, gid: 65_534 } : {};
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env,
    timeout: 60_000,
    ...identity,
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

test.each([
  ['a directory', 'config.toml/x'],
  ['a directory of a workspace', 'workspaces/w.toml/x'],
])('%s where a file should be is told', async (_title, path) => {
  await using s = await scratch({ [path]: '' });
  for (const use of [() => s.load(), () => migrateOperatorFiles(s.paths, OPTIONS)]) {
    await expect(use()).rejects.toMatchObject({
      code: 'NOT_A_REGULAR_FILE',
      message: expect.stringContaining('.toml'),
    });
  }
});

test('the sample of the Rust jackin with paths that exist here is a target with an exit policy', async () => {
  await using s = await scratch({}, ['proj/', 'notes/']);
  await mkdir(s.configDir);
  const sample = fileURLToPath(new URL('../../../fixtures/rust-state/config', import.meta.url));
  await cp(sample, s.configDir, { recursive: true });
  await editPaths(s);
  await migrateOperatorFiles(
    resolvePaths({ JACKIN_CONFIG_DIR: s.configDir, JACKIN_HOME_DIR: join(s.root, 'state') }),
    OPTIONS,
  );
  const { workspaces, problems } = await s.load();
  expect(problems).toEqual([]);
  expect(workspaces.get('proj')?.mounts.map(({ src }) => src)).toEqual([
    join(s.root, 'proj'),
    join(s.root, 'notes'),
  ]);
});

async function editPaths(s: Scratch): Promise<void> {
  const file = join(s.configDir, 'workspaces/proj.toml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll('/home/op', s.root));
}
