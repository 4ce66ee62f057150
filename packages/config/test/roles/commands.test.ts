import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createRole } from '../../src/roles/create.ts';
import { openRoleFiles } from '../../src/roles/directory.ts';
import { migrateRole } from '../../src/roles/migrate-role.ts';
import { FROM, type Home, openHome, refusal, writeFiles } from './support.ts';

let home: Home;
let dir: string;
beforeEach(() => {
  home = openHome();
  dir = join(home.root, 'role');
});
afterEach(() => home.dispose());
const file = () => join(dir, 'jackin.role.toml');

describe('a new role', () => {
  test('is whole, current and works as it is', async () => {
    const { dir: made, files } = await createRole(dir, 'My "own" role');
    expect([made, files.sort()]).toEqual([
      dir,
      ['.dockerignore', 'Dockerfile', 'README.md', 'jackin.role.toml'],
    ]);
    const role = await openRoleFiles(dir);
    expect(role.manifest).toMatchObject({
      version: 'v1alpha6',
      agents: ['shell'],
      display_name: 'My "own" role',
      unsupported: [],
    });
    expect(await migrateRole(dir)).toMatchObject({ changed: false });
  });

  test('has the name of its directory, and may be made in an empty one that git knows', async () => {
    mkdirSync(join(dir, '.git'), { recursive: true });
    await createRole(dir);
    expect((await openRoleFiles(dir)).manifest.display_name).toBe('role');
  });

  test('is not written over anything', async () => {
    writeFiles(dir, { Dockerfile: 'mine' });
    const error = await refusal(createRole(dir));
    expect(error).toMatchObject({ code: 'ROLE_EXISTS', details: { path: dir } });
    expect(readdirSync(dir)).toEqual(['Dockerfile']);
    expect(await refusal(createRole(join(dir, 'Dockerfile')))).toMatchObject({ code: 'ROLE_EXISTS' });
    expect(await refusal(createRole(join(dir, 'Dockerfile/below')))).toMatchObject({ code: 'ROLE_EXISTS' });
    expect(readFileSync(join(dir, 'Dockerfile'), 'utf8')).toBe('mine');
  });
});

describe('the migration of a role', () => {
  const OLD =
    '\uFEFF# mine\r\ndockerfile = "Dockerfile" # here\r\nagents = ["opencode"]\r\nversion = "v1alpha2"\r\n';

  test('brings it up to date where it is written, and nothing else of it changes', async () => {
    writeFiles(dir, { 'jackin.role.toml': OLD, Dockerfile: FROM });
    chmodSync(file(), 0o640);
    const { changed, from, to, steps } = await migrateRole(dir);
    expect([changed, from, to, steps.map((step) => step.from)]).toEqual([
      true,
      'v1alpha2',
      'v1alpha6',
      ['v1alpha2', 'v1alpha3', 'v1alpha4', 'v1alpha5'],
    ]);
    const text = readFileSync(file(), 'utf8');
    for (const line of ['# mine', 'dockerfile = "Dockerfile" # here', 'agents = ["opencode"]']) {
      expect(text).toContain(`${line}\r\n`);
    }
    expect(text.startsWith('\uFEFF')).toBe(true);
    expect(lstatSync(file()).mode & 0o777).toBe(0o640);
    expect((await openRoleFiles(dir)).manifest.agents).toEqual(['opencode']);
    expect(readdirSync(dir).sort()).toEqual(['Dockerfile', 'jackin.role.toml']);
  });

  test('does not touch one that is current', async () => {
    await createRole(dir);
    utimesSync(file(), 1, 1);
    expect(await migrateRole(dir)).toMatchObject({
      changed: false,
      from: 'v1alpha6',
      to: 'v1alpha6',
      steps: [],
    });
    expect(lstatSync(file()).mtimeMs).toBe(1000);
  });

  test.each([
    ['version = "v1alpha7"\n', 'ROLE_VERSION'],
    ['version = 1\n', 'ROLE_VERSION'],
    ['version = "v1alpha2"\ndockerfile = [\n', 'ROLE_INVALID'],
    ['version = "v1alpha2"\ndockerfile = "Dockerfile"\nunknown = 1\n', 'ROLE_INVALID'],
    ['version = "v1alpha2"\ndockerfile = "missing"\n', 'ROLE_INVALID'],
  ])('of %j is refused before a byte is written', async (text, code) => {
    writeFiles(dir, { Dockerfile: FROM });
    writeFileSync(file(), text);
    utimesSync(file(), 1, 1);
    expect(await refusal(migrateRole(dir))).toMatchObject({ code });
    expect([readFileSync(file(), 'utf8'), lstatSync(file()).mtimeMs]).toEqual([text, 1000]);
  });
});
