import { cp, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig, resolveExitPolicy } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { scratch } from './helpers.ts';

const SAMPLE = fileURLToPath(new URL('../../../fixtures/rust-state/config', import.meta.url));

describe('loadConfig', () => {
  test('without any file gives the defaults', async () => {
    await using s = await scratch({});
    const { config, workspaces, problems } = await s.load();
    expect(config).toEqual({
      role_repo_refresh_ttl_seconds: 60,
      env: {},
      roles: {},
      agents: {},
      docker: {},
      git: { coauthor_trailer: false, dco: false },
      runtime: { default_backend: 'docker' },
      retention: { warn_after_days: 14 },
      attach: { prefix: 'C-b' },
    });
    expect([workspaces.size, problems]).toEqual([0, []]);
  });

  test('reads the configuration of the Rust jackin and leaves it as it is', async () => {
    await using s = await scratch({});
    await cp(SAMPLE, s.configDir, { recursive: true });
    const { config, workspaces, problems } = await s.load();
    expect(config).toMatchObject({
      version: 'v1alpha10',
      dirty_exit_policy: 'clean',
      role_repo_refresh_ttl_seconds: 300,
      env: { GH_HOST: '$GH_HOST', API_KEY: { op: 'op://vault/item/field', account: 'acme' } },
      roles: { 'the-architect': { git: 'https://example.test/jackin-the-architect.git', trusted: true } },
      docker: { profile: 'standard' },
      git: { coauthor_trailer: true, dco: false },
    });
    const workspace = workspaces.get('proj');
    expect(workspace).toMatchObject({
      workdir: '/workspace/proj',
      default_agent: 'claude',
      git_pull_on_entry: true,
      mounts: [
        { src: '/home/op/proj', dst: '/workspace/proj', isolation: 'worktree', readonly: false },
        { src: '/home/op/notes', dst: '/workspace/notes', isolation: 'shared', readonly: true },
      ],
    });
    expect(problems).toEqual([]);
    const policy = { flag: null, workspace: workspace ?? null, global: config };
    expect(resolveExitPolicy(policy)).toEqual({ value: 'keep', source: 'workspace' });
    expect(resolveExitPolicy({ ...policy, workspace: null })).toEqual({ value: 'clean', source: 'global' });
    for (const file of ['config.toml', 'workspaces/proj.toml']) {
      expect(await readFile(join(s.configDir, file), 'utf8')).toBe(
        await readFile(join(SAMPLE, file), 'utf8'),
      );
    }
  });

  const configVersions = [null, ...Array.from({ length: 10 }, (_, index) => `v1alpha${index + 1}`)];
  test.each(configVersions)('reads config.toml of version %s', async (version) => {
    const stamp = version === null ? '' : `version = "${version}"\n`;
    await using s = await scratch({ 'config.toml': `${stamp}[env]\nA = "b"\n[attach]\nprefix = "C-a"\n` });
    const { config } = await s.load();
    expect(config).toMatchObject({ env: { A: 'b' }, attach: { prefix: 'C-a' } });
  });

  const OP_WORKSPACE = `
op_account = "acme"
workdir = "/w"
[[mounts]]
src = "/src"
dst = "/w"
[env]
A = { op = "op://v/i/a" }
B = { op = "op://v/i/b", account = "own" }
C = "plain"
[github.env]
G = { op = "op://v/i/g" }
[roles.smith.env]
D = { op = "op://v/i/d" }
[roles.smith.github.env]
E = { op = "op://v/i/e" }
`;
  test.each([null, ...Array.from({ length: 9 }, (_, index) => `v1alpha${index + 1}`)])(
    'reads a workspace of version %s; up to v1alpha4 op_account is the account of every reference without one',
    async (version) => {
      const stamp = version === null ? '' : `version = "${version}"\n`;
      await using s = await scratch({ 'workspaces/proj.toml': stamp + OP_WORKSPACE });
      const { workspaces } = await s.load();
      const moved = version === null || /alpha[1-4]$/.test(version);
      const account = moved ? { account: 'acme' } : {};
      expect(workspaces.get('proj')).toMatchObject({
        env: { A: { op: 'op://v/i/a', ...account }, B: { op: 'op://v/i/b', account: 'own' }, C: 'plain' },
        github: { env: { G: { op: 'op://v/i/g', ...account } } },
        roles: {
          smith: {
            env: { D: { op: 'op://v/i/d', ...account } },
            github: { env: { E: { op: 'op://v/i/e', ...account } } },
          },
        },
      });
      expect(Object.keys(workspaces.get('proj')?.env.A ?? {}).includes('account')).toBe(moved);
    },
  );

  test.each([
    ['config.toml', 'v1alpha11', 'v1alpha10'],
    ['config.toml', 'v1beta1', 'v1alpha10'],
    ['config.toml', 'v1', 'v1alpha10'],
    ['config.toml', 'v2alpha1', 'v1alpha10'],
    ['workspaces/proj.toml', 'v1alpha10', 'v1alpha9'],
  ])('refuses %s of version %s before it looks at anything else of it', async (file, version, newest) => {
    for (const rest of ['dirty_exit_policy = "a new value"', 'this is = = no TOML of ours']) {
      await using s = await scratch({ [file]: `# a comment\nversion = "${version}"\n${rest}\n[x]\ny = 1\n` });
      await expect(s.load()).rejects.toMatchObject({
        code: 'CONFIG_TOO_NEW',
        details: { file: join(s.configDir, file), version, newest },
      });
    }
  });

  test('a version below another table is not the version of the file', async () => {
    await using s = await scratch({ 'config.toml': 'broken = \n[telemetry]\nversion = "v9"\n' });
    await expect(s.load()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test.each([
    ['a syntax error has a line', '[env]\nA = "x"\nB = "half', { line: 3 }],
    ['a key twice', 'dirty_exit_policy = "ask"\ndirty_exit_policy = "keep"\n', { line: 2 }],
    ['not UTF-8', Buffer.from([0x61, 0x3d, 0xff]), { line: null }],
    ['an unsafe key', '[roles.__proto__]\ngit = "x"\n', { line: 1 }],
    ['a version that is none', 'version = "1"\n', { problems: [{ key: 'version' }] }],
    ['a version that is no text', 'version = 1\n', { problems: [{ key: 'version' }] }],
    ['an unknown policy', 'dirty_exit_policy = "clen"\n', { problems: [{ key: 'dirty_exit_policy' }] }],
    [
      'an unknown backend',
      '[runtime]\ndefault_backend = "vm"\n',
      { problems: [{ key: 'runtime.default_backend' }] },
    ],
    ['a prefix that is no control key', '[attach]\nprefix = "b"\n', { problems: [{ key: 'attach.prefix' }] }],
    ['a value that is no reference', '[env]\nA = 1\n', { problems: [{ key: 'env.A' }] }],
    ['a reference that is none', '[env]\nA = { op = "vault/x" }\n', { problems: [{ key: 'env.A.op' }] }],
    ['a name that is none', '[env]\n"A=B" = "x"\n', { problems: [{ key: 'env.A=B' }] }],
    [
      'claude only has oauth_token',
      '[codex]\nauth_forward = "oauth_token"\n',
      { problems: [{ key: 'codex.auth_forward' }] },
    ],
    [
      'two at once',
      'dirty_exit_policy = 1\n[retention]\nwarn_after_days = -1\n',
      {
        problems: [{ key: 'dirty_exit_policy' }, { key: 'retention.warn_after_days' }],
      },
    ],
  ])('names file, key and line: %s', async (_title, content, details) => {
    await using s = await scratch({ 'config.toml': content });
    await expect(s.load()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(join(s.configDir, 'config.toml')),
      details: {
        ...details,
        ...('problems' in details
          ? { problems: details.problems.map((one) => expect.objectContaining(one)) }
          : {}),
      },
    });
  });

  test('never quotes the text around an error: it may be a secret', async () => {
    await using s = await scratch({ 'config.toml': '[env]\nTOKEN = "hunter2hunter2\n' });
    const error = await s.load().catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(String((error as Error).stack)).not.toContain('hunter2');
  });

  test('a workspace that cannot be understood is an error, or its policy would be forgotten', async () => {
    await using s = await scratch({ 'workspaces/a.toml': 'workdir = "/w"\ndirty_exit_policy = 1\n' });
    await expect(s.load()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      details: { file: join(s.configDir, 'workspaces/a.toml') },
    });
  });

  test('unknown keys are kept, hidden and other files are not workspaces, a linked file is followed', async () => {
    await using s = await scratch({
      'config.toml': 'later = 1\n[docker]\nlater = 2\n',
      'workspaces/.a.toml.swp': 'x',
      'workspaces/.hidden.toml': 'x',
      'workspaces/notes.txt': 'x',
      'elsewhere.toml': 'workdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\n',
    });
    await symlink('../elsewhere.toml', join(s.configDir, 'workspaces/linked.toml'));
    const { config, workspaces } = await s.load();
    expect(config).toMatchObject({ later: 1, docker: { later: 2 } });
    expect([...workspaces.keys()]).toEqual(['linked']);
  });

  test('what works but is hardly meant is a problem, not an error', async () => {
    await using s = await scratch({
      'config.toml': '[env]\nA = "op://v/i/f"\n[roles.r.env]\nB = { value = "op://v/i/f" }\n',
      'workspaces/w.toml': 'workdir = "/elsewhere"\nmounts = [{ src = "/s", dst = "/w" }]\n',
    });
    const { problems } = await s.load();
    expect(
      problems.map(({ file, reason }) => [file.slice(s.configDir.length), reason.split(':')[0]]),
    ).toEqual([
      ['/config.toml', 'env.A'],
      ['/config.toml', 'roles.r.env.B'],
      ['/workspaces/w.toml', 'workdir'],
    ]);
  });

  test('a file that cannot be read is an error, not a default', async () => {
    await using s = await scratch({ 'config.toml/x': '' });
    await expect(s.load()).rejects.toMatchObject({ code: 'NOT_A_REGULAR_FILE' });
    await expect(loadConfig({ configDir: join(s.configDir, 'config.toml/x') })).rejects.toMatchObject({
      code: 'STATE_NOT_READABLE',
    });
  });
});

describe('workspaces inside config.toml, as older versions wrote them', () => {
  const INLINE = '[workspaces.proj]\nworkdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\n';
  test('are workspaces, with their op_account', async () => {
    const env = 'op_account = "acme"\nenv = { A = { op = "op://v/i/f" } }\n';
    await using s = await scratch({ 'config.toml': INLINE + env });
    const { config, workspaces } = await s.load();
    expect(workspaces.get('proj')).toMatchObject({ workdir: '/w', env: { A: { account: 'acme' } } });
    expect(config).not.toHaveProperty('workspaces');
  });

  test('may repeat what their file says', async () => {
    await using s = await scratch({
      'config.toml': INLINE,
      'workspaces/proj.toml': 'version = "v1alpha9"\nmounts = [{ src = "/s", dst = "/w" }]\nworkdir = "/w"\n',
    });
    expect((await s.load()).workspaces.get('proj')).toMatchObject({ version: 'v1alpha9' });
  });

  test('that say something else than their file are an error', async () => {
    await using s = await scratch({ 'config.toml': INLINE, 'workspaces/proj.toml': 'workdir = "/other"\n' });
    await expect(s.load()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/workspaces\.proj/),
    });
  });

  test('that are wrong are named where they are', async () => {
    await using s = await scratch({ 'config.toml': '[workspaces.proj]\nworkdir = 1\n' });
    await expect(s.load()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      details: { problems: [{ key: 'workspaces.proj.workdir' }] },
    });
  });
});
