import { describe, expect, test } from '@jest/globals';
import { cacheName, checkBranch, gitSource, isGitAddress } from '../../src/roles/git-source.ts';
import { refusal } from './support.ts';

describe('the address of a role repository', () => {
  test.each([
    ['https://example.com/team/role.git', 'https', 'https://example.com/team/role.git'],
    ['https://example.com:8443/role', 'https', 'https://example.com:8443/role'],
    ['ssh://git@example.com/team/role.git', 'ssh', 'ssh://git@example.com/team/role.git'],
    ['git@example.com:team/role.git', 'ssh', 'git@example.com:team/role.git'],
    ['example.com:role.git', 'ssh', 'example.com:role.git'],
    ['file:///srv/role.git', 'file', 'file:///srv/role.git'],
    ['/srv/my role.git', 'file', 'file:///srv/my%20role.git'],
  ])('%s', (address, transport, url) => {
    expect(gitSource('r', address)).toEqual({ url, transport });
    expect(isGitAddress(url)).toBe(true);
  });

  test.each([
    ['', 'empty'],
    ['role', 'no address'],
    ['./role', 'no address'],
    ['-uploadpack=touch x', 'no address has'],
    ['--upload-pack=x', 'no address has'],
    ['https://example.com/a b', 'no address has'],
    ['https://example.com/a\nb', 'no address has'],
    ['ext::sh -c whoami', 'no address has'],
    ['ext::sh', 'no address'],
    ['git://example.com/role', 'git, which is not used'],
    ['http://example.com/role', 'http, which is not used'],
    ['ftp://example.com/role', 'ftp, which is not used'],
    ['ssh://-oProxyCommand=x/role', 'its host is no host'],
    ['ssh://git@-oProxyCommand=x/role', 'its host is no host'],
    ['-oProxyCommand=x:role', 'no address has'],
    ['git@-oProxyCommand=x:role', 'no address'],
  ])('%j is refused', async (address, told) => {
    const error = await refusal(() => gitSource('mine', address));
    expect(error).toMatchObject({ code: 'ROLE_GIT_INVALID', details: { key: 'roles.mine.git' } });
    expect(error.message).toContain(told);
  });

  test.each([
    'https://user:s3cretword@example.com/role',
    'https://s3cretword@example.com/role',
    'ssh://git:s3cretword@example.com/role',
  ])('with a credential is refused and not shown: %s', async (address) => {
    const error = await refusal(() => gitSource('mine', address));
    expect(error.code).toBe('ROLE_GIT_INVALID');
    expect(JSON.stringify(error) + error.message + error.hint).not.toContain('s3cretword');
  });

  test('a directory and a role of ours are none', () => {
    expect(['builtin:shell', '/srv/role', 'roles/mine'].filter(isGitAddress)).toEqual([]);
  });

  test('has a cache of its own with a name people can read', () => {
    const names = [
      'https://a.example/Team/My_Role.git',
      'https://b.example/Team/My_Role.git',
      'a:/',
      'file:///',
    ].map((address) => cacheName(gitSource('r', address)));
    expect(names[0]).toMatch(/^my-role-[0-9a-f]{12}$/);
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[a-z0-9-]+$/);
  });
});

describe('a branch', () => {
  test.each(['main', 'feature/x', 'v1.2', 'a_b-c+d'])('may be %s', (branch) => {
    expect(() => checkBranch('r', branch)).not.toThrow();
  });

  test.each([
    '',
    '-x',
    '../x',
    'a..b',
    'a//b',
    'a/',
    'a.',
    'a.lock',
    'a.lock/b',
    'a/.b',
    'a b',
    'a:b',
    'a~1',
    'a^',
    '@{u}',
    'a\\b',
    '*',
  ])('cannot be %j', async (branch) => {
    expect(await refusal(() => checkBranch('r', branch))).toMatchObject({ code: 'ROLE_GIT_INVALID' });
  });
});
