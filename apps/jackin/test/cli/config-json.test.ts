import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { openPlace, type Place, type Run } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let place: Place;
beforeEach(() => {
  place = openPlace();
  mkdirSync(join(place.config, 'workspaces'));
});
afterEach(() => place.dispose());

const file = (name: string) => readFileSync(join(place.config, name), 'utf8');
const json = async (...args: string[]): Promise<{ code: number | null; data?: any; error?: any }> => {
  const run: Run = await place.run([...args, '--json']);
  const { schema_version, ...rest } = JSON.parse(run.stdout);
  expect(schema_version).toBe('v1');
  return { code: run.code, ...rest };
};

/** A workspace `app`; its text. */
function writeWorkspace(): string {
  const text = 'version = "v1alpha9"\nworkdir = "/w"\n\n[[mounts]]\nsrc = "/srv"\ndst = "/w"\n';
  writeFileSync(join(place.config, 'workspaces/app.toml'), text);
  return text;
}

describe('workspace', () => {
  test('create, list, show, edit, rename and remove report one document each', async () => {
    const made = await json(
      'workspace',
      'create',
      'app',
      '--mount',
      '.:/workspace/app',
      '--mount',
      '~:/home/me:ro',
      '--role',
      'shell',
    );
    expect(made).toMatchObject({
      code: 0,
      data: {
        action: 'created',
        subject: 'workspace app',
        file: join(place.config, 'workspaces/app.toml'),
        dry_run: false,
      },
    });
    expect(file('workspaces/app.toml')).toBe(
      `version = "v1alpha9"\nworkdir = "/workspace/app"\ndefault_role = "shell"\n\n[[mounts]]\nsrc = "${place.project}"\ndst = "/workspace/app"\n\n[[mounts]]\nsrc = "${place.env.HOME}"\ndst = "/home/me"\nreadonly = true\n`,
    );
    expect((await json('workspace', 'list')).data.workspaces).toMatchObject([
      {
        name: 'app',
        workdir: '/workspace/app',
        default_role: 'shell',
        exit_policy: { value: 'ask', source: 'default' },
        instances: 0,
      },
    ]);
    const edited = await json(
      'workspace',
      'edit',
      'app',
      '--exit-policy',
      'keep',
      '--remove-mount',
      '/home/me',
      '--git-pull',
    );
    expect(edited.data.changes).toEqual([
      { key: 'mounts', before: { src: place.env.HOME, dst: '/home/me', readonly: true }, after: null },
      { key: 'git_pull_on_entry', before: null, after: true },
      { key: 'dirty_exit_policy', before: null, after: 'keep' },
    ]);
    const shown = (await json('workspace', 'show', 'app')).data;
    expect(shown).toMatchObject({
      exit_policy: { value: 'keep', source: 'workspace' },
      instances: [],
      problems: [],
    });
    expect(shown.settings).toContainEqual({
      key: 'dirty_exit_policy',
      value: 'keep',
      source: 'file',
      line: 5,
    });
    expect(await json('workspace', 'edit', 'app', '--exit-policy', 'keep')).toMatchObject({
      code: 0,
      data: { action: 'unchanged', changes: [] },
    });
    expect(await json('workspace', 'rename', 'app', 'site')).toMatchObject({
      code: 0,
      data: { action: 'renamed' },
    });
    expect((await json('workspace', 'show', 'app')).error).toMatchObject({
      code: 'WORKSPACE_NOT_FOUND',
      hint: 'Workspaces: site',
    });
    expect(await json('workspace', 'remove', 'site')).toMatchObject({
      code: 3,
      error: { code: 'DECISION_NEEDED' },
    });
    expect(await json('workspace', 'remove', 'site', '--yes')).toMatchObject({
      code: 0,
      data: { action: 'removed' },
    });
    expect((await json('workspace', 'list')).data).toEqual({ workspaces: [] });
  });

  test('create without a mount mounts the current directory at its own path', async () => {
    await json('workspace', 'create', 'here');
    expect(file('workspaces/here.toml')).toContain(
      `workdir = "${place.project}"\n\n[[mounts]]\nsrc = "${place.project}"\ndst = "${place.project}"\n`,
    );
  });

  test.each<[string, string[], number, string]>([
    ['a name that exists', ['create', 'app'], 1, 'WORKSPACE_EXISTS'],
    ['a name no file has', ['create', 'a/b'], 2, 'WORKSPACE_NAME_INVALID'],
    ['a workspace that is not there', ['edit', 'no', '--exit-policy', 'keep'], 2, 'WORKSPACE_NOT_FOUND'],
    ['a workspace to remove that is not there', ['remove', 'no', '--yes'], 2, 'WORKSPACE_NOT_FOUND'],
    ['a mount that is none', ['edit', 'app', '--mount', 'a:b'], 2, 'MOUNT_INVALID'],
    ['a mount that is not there', ['edit', 'app', '--remove-mount', '/x'], 1, 'SETTING_NOT_FOUND'],
    ['an isolation that is none', ['edit', 'app', '--mount-isolation', '/w=some'], 2, 'MOUNT_INVALID'],
    [
      'an isolated credential store',
      ['edit', 'app', '--mount', '~/.ssh:/s', '--mount-isolation', '/s=clone'],
      1,
      'CONFIG_INVALID',
    ],
    ['a workdir outside of the mounts', ['edit', 'app', '--workdir', '/elsewhere'], 1, 'CONFIG_INVALID'],
    ['a grant that is not enforced', ['edit', 'app', '--grant', 'sudo=true'], 1, 'CONFIG_INVALID'],
    ['credentials of nobody', ['edit', 'app', '--auth', 'vim=sync'], 2, 'AGENT_UNKNOWN'],
    ['a reserved variable', ['env', 'set', 'app', 'JACKIN_X=1'], 1, 'ENV_RESERVED'],
    ['a variable that is not there', ['env', 'unset', 'app', 'NO'], 1, 'SETTING_NOT_FOUND'],
  ])('%s is refused by name, and the file stays as it is', async (_what, args, code, error) => {
    const before = writeWorkspace();
    const refused = await json('workspace', ...args);
    expect([refused.code, refused.error.code]).toEqual([code, error]);
    expect(refused.error.hint).toEqual(expect.any(String));
    expect(file('workspaces/app.toml')).toBe(before);
  });

  test('a dry run of every change writes nothing', async () => {
    const before = writeWorkspace();
    for (const args of [
      ['create', 'other'],
      ['edit', 'app', '--exit-policy', 'clean'],
      ['rename', 'app', 'other'],
      ['remove', 'app'],
      ['env', 'set', 'app', 'A=b'],
    ]) {
      expect(await json('workspace', ...args, '--dry-run')).toMatchObject({
        code: 0,
        data: { dry_run: true },
      });
    }
    expect(file('workspaces/app.toml')).toBe(before);
    expect((await json('workspace', 'list')).data.workspaces).toHaveLength(1);
  });
});

describe('config', () => {
  test('variables of every layer are set, listed without their literal values, and unset', async () => {
    writeFileSync(
      join(place.config, 'config.toml'),
      '# mine\nversion = "v1alpha10"\n\n[env] # here\nKEPT = "kept-secret" # mine, too\n',
    );
    const set = await place.run([
      'config',
      'env',
      'set',
      'LITERAL=literal-secret',
      'HOST=$HOST',
      'OP=op://v/i/f',
      '--account',
      'acme',
      '--on-demand',
    ]);
    expect(set.code).toBe(0);
    await json('config', 'env', 'set', 'A=1', '--role', 'shell');
    await json('config', 'env', 'set', 'GH=2', '--role', 'shell', '--github');
    expect(file('config.toml')).toContain(
      '[env] # here\nKEPT = "kept-secret" # mine, too\nLITERAL = { value = "literal-secret", on_demand = true }\nHOST = { value = "$HOST", on_demand = true }\nOP = { op = "op://v/i/f", account = "acme", on_demand = true }\n',
    );
    const list = await json('config', 'env', 'list');
    expect(list.data.variables).toEqual([
      { layer: 'env', name: 'KEPT', kind: 'literal', value: '***', on_demand: false },
      { layer: 'env', name: 'LITERAL', kind: 'literal', value: '***', on_demand: true },
      { layer: 'env', name: 'HOST', kind: 'host', value: '$HOST', on_demand: true },
      { layer: 'env', name: 'OP', kind: 'op', value: 'op://v/i/f?account=acme', on_demand: true },
      { layer: 'roles.shell.env', name: 'A', kind: 'literal', value: '***', on_demand: false },
      { layer: 'roles.shell.github.env', name: 'GH', kind: 'literal', value: '***', on_demand: false },
    ]);
    expect((await json('config', 'env', 'list', '--role', 'shell')).data.variables).toHaveLength(2);
    const told = [
      set,
      await place.run(['config', 'show']),
      await place.run(['config', 'show', '--json']),
      await place.run(['config', 'env', 'list']),
    ];
    for (const { stdout, stderr } of told) expect(stdout + stderr).not.toMatch(/-secret/);
    await json('config', 'env', 'unset', 'LITERAL', 'HOST', 'OP');
    expect((await json('config', 'env', 'list')).data.variables).toHaveLength(3);
  });

  test('the exit policy is told with its source, set, and taken out again', async () => {
    expect((await json('config', 'exit-policy')).data).toEqual({ value: 'ask', source: 'default' });
    await json('config', 'exit-policy', 'clean');
    expect((await json('config', 'exit-policy')).data).toEqual({ value: 'clean', source: 'global' });
    await json('config', 'exit-policy', '--clear');
    expect(await json('config', 'exit-policy', '--clear')).toMatchObject({
      code: 0,
      data: { action: 'unchanged' },
    });
    expect((await json('config', 'exit-policy')).data).toEqual({ value: 'ask', source: 'default' });
  });

  test('any field is set and taken out, as the type it has', async () => {
    await json('config', 'set', 'role_repo_refresh_ttl_seconds', '0');
    await json('config', 'set', 'runtime.default_backend', 'standalone');
    await json('config', 'set', 'agents.mine.command', '["my-agent", "--quiet"]');
    await json('config', 'set', 'git.dco', 'true');
    await json('config', 'set', 'roles."my role".path', '~/roles/mine');
    expect(file('config.toml')).toBe(
      'version = "v1alpha10"\nrole_repo_refresh_ttl_seconds = 0\n\n[runtime]\ndefault_backend = "standalone"\n\n[agents.mine]\ncommand = ["my-agent", "--quiet"]\n\n[git]\ndco = true\n\n[roles."my role"]\npath = "~/roles/mine"\n',
    );
    const shown = (await json('config', 'show')).data.settings;
    expect(shown).toContainEqual({
      key: 'runtime.default_backend',
      value: 'standalone',
      source: 'file',
      line: 5,
    });
    expect(shown).toContainEqual({ key: 'attach.prefix', value: 'C-b', source: 'default', line: null });
    await json('config', 'unset', 'roles."my role"');
    expect(file('config.toml')).not.toContain('my role');
    for (const [key, value] of [
      ['attach.prefix', 'x'],
      ['version', 'v1'],
      ['workspaces.a.workdir', '/w'],
      ['roles.x.path', '12'],
    ]) {
      const before = file('config.toml');
      expect(await json('config', 'set', key as string, value as string)).toMatchObject({
        code: 1,
        error: { code: 'CONFIG_INVALID' },
      });
      expect(file('config.toml')).toBe(before);
    }
  });

  test('mounts of every session, credentials and trust', async () => {
    await json('config', 'mount', 'add', 'cache', './cache:/cache:ro');
    expect((await json('config', 'mount', 'list')).data.mounts).toEqual([
      { name: 'cache', src: join(place.project, 'cache'), dst: '/cache', readonly: true },
    ]);
    expect((await json('config', 'mount', 'add', 'cache', './other:/cache')).error.code).toBe(
      'SETTING_EXISTS',
    );
    await json('config', 'mount', 'remove', 'cache');
    expect((await json('config', 'mount', 'list')).data.mounts).toEqual([]);

    await json('config', 'auth', 'claude', 'sync', '--sync-source-dir', '~/.claude');
    expect(file('config.toml')).toContain(
      `[claude]\nauth_forward = "sync"\nsync_source_dir = "${place.env.HOME}/.claude"\n`,
    );
    expect((await json('config', 'auth', 'claude', 'token')).error).toMatchObject({
      code: 'CONFIG_INVALID',
      details: { key: 'claude.auth_forward', line: expect.any(Number) },
    });
    await json('config', 'auth', 'claude', '--clear');
    expect(file('config.toml')).not.toContain('auth_forward');

    expect((await json('config', 'trust', 'mine')).error).toMatchObject({ code: 'ROLE_UNKNOWN' });
    await json('config', 'set', 'roles.mine.git', 'https://example.com/mine.git');
    await json('config', 'set', 'roles.near.path', '/srv/near');
    await json('config', 'trust', 'mine');
    expect(file('config.toml')).toContain('git = "https://example.com/mine.git"\ntrusted = true\n');
    await json('config', 'trust', 'mine', '--revoke');
    expect(file('config.toml')).toContain('trusted = false\n');
    expect((await json('config', 'trust', 'near')).error).toMatchObject({ code: 'ROLE_GIT_INVALID' });
  });
});

describe('role', () => {
  test('create, validate, list and use it', async () => {
    expect(await json('role', 'create', 'mine', '--name', 'Mine')).toMatchObject({
      code: 0,
      data: {
        dir: join(place.project, 'mine'),
        files: expect.arrayContaining(['jackin.role.toml', 'Dockerfile']),
      },
    });
    expect((await json('role', 'create', 'mine')).error.code).toBe('ROLE_EXISTS');
    expect(await json('role', 'validate', 'mine')).toMatchObject({
      code: 0,
      data: { valid: true, problems: [] },
    });
    await json('config', 'set', 'roles.mine.path', join(place.project, 'mine'));
    const { roles } = (await json('role', 'list')).data;
    expect(roles.map(({ key, kind, problem }: any) => [key, kind, problem])).toEqual([
      ['agent-smith', 'shipped', null],
      ['mine', 'path', null],
      ['shell', 'shipped', null],
    ]);
    writeFileSync(join(place.project, 'mine/Dockerfile'), '# nothing\n');
    for (const name of ['mine', './mine', join(place.project, 'mine')]) {
      expect(await json('role', 'validate', name)).toMatchObject({
        code: 1,
        data: { valid: false, problems: [{ code: 'ROLE_INVALID' }] },
      });
    }
    expect((await json('role', 'validate', 'shell')).data.valid).toBe(true);
    expect((await json('role', 'validate', 'nowhere')).error.code).toBe('ROLE_NOT_FOUND');
    await json('config', 'set', 'roles.far.git', 'https://example.com/far.git');
    expect((await json('role', 'validate', 'far')).error.code).toBe('ROLE_NOT_FETCHED');
  });

  test('migrate tells each step, writes nothing with --dry-run, and keeps every comment', async () => {
    await json('role', 'create', 'mine');
    const manifest = join(place.project, 'mine/jackin.role.toml');
    const old = '# mine\ndockerfile = "Dockerfile" # this one\nagents = ["claude"]\n';
    writeFileSync(manifest, old);
    const planned = await json('role', 'migrate', 'mine', '--dry-run');
    expect(planned).toMatchObject({
      code: 0,
      data: { from: 'legacy', to: 'v1alpha6', changed: true, dry_run: true },
    });
    expect(readFileSync(manifest, 'utf8')).toBe(old);
    const done = await json('role', 'migrate', 'mine');
    expect(done.data).toEqual({ ...planned.data, dry_run: false });
    expect(readFileSync(manifest, 'utf8')).toBe(`version = "v1alpha6"\n${old}`);
    const text = await place.run(['role', 'migrate', 'mine']);
    expect(text.stdout).toBe(`${manifest} is of the newest version, v1alpha6.\n`);
  });
});
