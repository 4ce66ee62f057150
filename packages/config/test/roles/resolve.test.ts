import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/load.ts';
import { listRoles } from '../../src/roles/list.ts';
import { locateRole, recordedRole } from '../../src/roles/recorded.ts';
import { peekRole, resolveRole } from '../../src/roles/resolve.ts';
import { FROM, type Home, MANIFEST, makeRepository, openHome, refusal, writeFiles } from './support.ts';

let home: Home;
let repository: ReturnType<typeof makeRepository>;
const named = (name: string) => `${MANIFEST}[identity]\nname = "${name}"\n`;

beforeEach(() => {
  home = openHome();
  repository = makeRepository(join(home.root, 'repository'));
  writeFiles(join(home.root, 'shipped/shell'), { 'jackin.role.toml': named('Shell'), Dockerfile: FROM });
  writeFiles(join(home.root, 'user/mine'), { 'jackin.role.toml': named('Mine'), Dockerfile: FROM });
});
afterEach(() => home.dispose());

describe('a role', () => {
  test('of our own is in the directory that comes with jackin', async () => {
    expect(await resolveRole('shell', home.options({}))).toMatchObject({
      key: 'shell',
      dir: join(home.root, 'shipped/shell'),
      source: { kind: 'shipped', name: 'shell' },
      manifest: { display_name: 'Shell' },
    });
  });

  test.each(['~/mine', 'ABSOLUTE'])('of the operator is a directory: %s', async (written) => {
    const path = written.replace('ABSOLUTE', join(home.root, 'user/mine'));
    const dir = join(home.root, 'user/mine');
    // The operator's own needs no trust, and wins over one of ours.
    for (const key of ['mine', 'shell']) {
      const role = await resolveRole(key, home.options({ [key]: { path } }));
      expect(role).toMatchObject({
        key,
        dir,
        source: { kind: 'path', path: dir },
        manifest: { display_name: 'Mine' },
      });
    }
  });

  test('of a repository is pinned to a commit', async () => {
    const options = home.options({ r: { git: repository.url, trusted: true } });
    const role = await resolveRole('r', options);
    expect(role.source).toEqual({ kind: 'git', git: repository.url, branch: null, commit: repository.first });
    expect(role.dir).toContain(repository.first);
    expect(await peekRole('r', options)).toEqual(role);
  });

  test('of a repository has to be trusted before anything of it is fetched', async () => {
    const options = home.options({ r: { git: repository.url, trusted: false } });
    const error = await refusal(resolveRole('r', options));
    expect(error).toMatchObject({ code: 'ROLE_NOT_TRUSTED', exitCode: 3 });
    expect(error.hint).toContain('jackin config trust r');
    expect(home.asked()).toBe(0);
    expect(await peekRole('r', options)).toBeNull();
    const once = await resolveRole('r', { ...options, trustedOnce: true });
    expect(once.source).toMatchObject({ commit: repository.first });
    // Reading what is cached runs nothing of it.
    expect(await peekRole('r', options)).toEqual(once);
    expect((await refusal(resolveRole('r', options))).code).toBe('ROLE_NOT_TRUSTED');
  });

  test('of a repository with a branch', async () => {
    repository.git('checkout', '--quiet', '-b', 'next');
    const commit = repository.commit({ new: 'x' });
    repository.git('checkout', '--quiet', 'main');
    const options = home.options({ r: { git: repository.url, trusted: true } }, { branch: 'next' });
    expect((await resolveRole('r', options)).source).toMatchObject({ branch: 'next', commit });
    expect(await refusal(resolveRole('r', { ...options, branch: '../x' }))).toMatchObject({
      code: 'ROLE_GIT_INVALID',
    });
    expect(await refusal(resolveRole('shell', { ...options, branch: 'next' }))).toMatchObject({
      code: 'ROLE_GIT_INVALID',
    });
  });

  test('that is broken in its repository is to be corrected there, not in the cache', async () => {
    const options = home.options({ r: { git: repository.url, trusted: true } }, {}, 0);
    const broken = repository.commit({ 'jackin.role.toml': `${MANIFEST}extra = 1\n` });
    const error = await refusal(resolveRole('r', options));
    expect(error).toMatchObject({ code: 'ROLE_INVALID', details: { key: 'extra', line: 4, commit: broken } });
    expect(error.hint).toContain(`in a clone of ${repository.url}`);
    repository.commit({ 'jackin.role.toml': 'version = "v1alpha5"\ndockerfile = "Dockerfile"\n[docker]\n' });
    const old = await refusal(resolveRole('r', options));
    expect(old.code).toBe('ROLE_VERSION');
    expect(old.hint).toContain('Run `jackin role migrate DIR` in a clone');
  });

  test.each([
    ['nobody', {}, 'ROLE_UNKNOWN', 'Known roles: shell'],
    ['./project', {}, 'ROLE_UNKNOWN', 'jackin load agent-smith ./project'],
    ['r', { r: { env: {} } }, 'ROLE_UNKNOWN', 'Known roles: shell, r'],
    ['r', { r: { git: 'https://x.example/r', path: '/srv/r' } }, 'CONFIG_INVALID', 'Keep one of the two'],
    ['r', { r: { path: 'roles/mine' } }, 'ROLE_NOT_FOUND', 'Correct the path'],
    ['r', { r: { path: '/no/such/role' } }, 'ROLE_NOT_FOUND', 'Correct the path'],
    ['r', { r: { git: 'http://x.example/r', trusted: true } }, 'ROLE_GIT_INVALID', 'Write https://'],
    ['__proto__', {}, 'ROLE_UNKNOWN', 'Known roles'],
    ['../shipped/shell', {}, 'ROLE_UNKNOWN', 'The role comes first'],
  ])('%s with %j is refused: %s', async (key, roles, code, hint) => {
    const error = await refusal(resolveRole(key, home.options(roles)));
    expect(error.code).toBe(code);
    expect(error.hint).toContain(hint);
  });
});

test('a role with two sources is refused with its line', async () => {
  const text = '[roles.r]\ngit = "https://x.example/r"\npath = "/srv/r"\n';
  writeFiles(home.paths.configDir, { 'config.toml': text });
  const loaded = await loadConfig(home.paths);
  expect(await refusal(resolveRole('r', { ...home.options({}), loaded }))).toMatchObject({
    code: 'CONFIG_INVALID',
    details: { file: join(home.paths.configDir, 'config.toml'), key: 'roles.r', line: 1 },
  });
});

describe('a recorded role', () => {
  const locate = (recorded: Parameters<typeof locateRole>[0]) =>
    locateRole(recorded, { ...home.common, home: home.env.HOME, shippedRoles: '/opt/roles' });

  test('is found again by what was written down', async () => {
    const path = join(home.root, 'user/mine');
    expect(recordedRole({ kind: 'shipped', name: 'shell' })).toEqual({ source: 'builtin:shell' });
    expect(await locate(recordedRole({ kind: 'shipped', name: 'shell' }))).toBe('/opt/roles/shell');
    expect(await locate(recordedRole({ kind: 'path', path }))).toBe(path);
    expect(await locate({ source: '~/mine' })).toBe(path);
    const { dir, source } = await resolveRole(
      'r',
      home.options({ r: { git: repository.url, trusted: true } }),
    );
    expect(recordedRole(source)).toEqual({ source: repository.url, ref: null, commit: repository.first });
    expect(await locate(recordedRole(source))).toBe(dir);
  });

  test('is the recorded commit whatever the repository and the configuration are by now', async () => {
    const { dir, source } = await resolveRole(
      'r',
      home.options({ r: { git: repository.url, trusted: true } }),
    );
    repository.commit({ Dockerfile: 'FROM debian:trixie\n' });
    await resolveRole('r', home.options({ r: { git: repository.url, trusted: true } }, {}, 0));
    renameSync(repository.dir, `${repository.dir}.gone`);
    expect(await locate(recordedRole(source))).toBe(dir);
  });

  test.each([
    ['builtin:../../etc', 'ROLE_NOT_FOUND'],
    ['roles/mine', 'ROLE_NOT_FOUND'],
    ['https://example.com/role.git', 'ROLE_NOT_FOUND'],
    ['git@example.com:me/role.git', 'ROLE_NOT_FOUND'],
  ])('%s without a commit is none', async (source, code) => {
    expect(await refusal(locate({ source }))).toMatchObject({ code });
  });
});

test('the list has every role with what is known of it, and the broken ones with their problem', async () => {
  const roles = {
    mine: { path: '~/mine' },
    gone: { path: '/no/such/role' },
    fetched: { git: repository.url, trusted: true },
    fresh: { git: 'https://x.example/r', trusted: false },
    shell: { env: {} },
  };
  const options = home.options(roles);
  await resolveRole('fetched', options);
  const asked = home.asked();
  const rows = await listRoles(options);
  expect(rows.map(({ key, kind, trusted }) => [key, kind, trusted])).toEqual([
    ['fetched', 'git', true],
    ['fresh', 'git', false],
    ['gone', 'path', true],
    ['mine', 'path', true],
    ['shell', 'shipped', true],
  ]);
  expect(rows[0]).toMatchObject({
    source: repository.url,
    cached: { commit: repository.first },
    agents: ['shell'],
  });
  expect(rows[1]).toMatchObject({ cached: null, agents: null, problem: null });
  expect(rows[2]).toMatchObject({ problem: { code: 'ROLE_NOT_FOUND' } });
  expect(rows[3]).toMatchObject({
    source: join(home.root, 'user/mine'),
    display_name: 'Mine',
    problem: null,
  });
  expect(home.asked()).toBe(asked);
});
