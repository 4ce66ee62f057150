import { describe, expect, test } from '@jest/globals';
import { parseRoleManifest } from '../../src/roles/manifest.ts';
import { refusal } from './support.ts';

const FILE = '/roles/mine/jackin.role.toml';
const HEAD = 'version = "v1alpha6"\ndockerfile = "Dockerfile"\n';
const parse = (text: string) => parseRoleManifest(FILE, text);
const refused = (text: string) => refusal(() => parse(text));

describe('a role manifest', () => {
  test('names Dockerfile, agents, a name, models and hooks', () => {
    const text = `${HEAD}agents = ["claude", "mine"]\n[identity]\nname = "Mine"\n[claude]\nmodel = "opus"\n[mine]\nmodel = "m"\n[hooks]\npreflight = "check.sh"\n`;
    expect(parse(text)).toEqual({
      version: 'v1alpha6',
      dockerfile: 'Dockerfile',
      agents: ['claude', 'mine'],
      display_name: 'Mine',
      models: { claude: 'opus', mine: 'm' },
      hooks: { preflight: 'check.sh' },
      unsupported: ['hooks.preflight'],
    });
  });

  test('means claude where it names no agents', () => {
    expect(parse(HEAD).agents).toEqual(['claude']);
  });

  test.each(['\uFEFF', ''])('is read with %j before it and with CRLF', (mark) => {
    expect(parse(`${mark}${HEAD}agents = ["shell"]\n`.replaceAll('\n', '\r\n')).agents).toEqual(['shell']);
  });

  test.each([
    ['agents = []', 'agents', 3],
    ['agents = "claude"', 'agents', 3],
    ['agents = [\n  "claude",\n  "No Agent",\n]', 'agents.1', 5],
    ['dockerfiles = "x"', 'dockerfiles', 3],
    ['trusted = true', 'trusted', 3],
    ['[docker]\nmin_profil = "locked"', 'docker.min_profil', 4],
    ['[docker]\nmin_profile = "none"', 'docker.min_profile', 4],
    ['[docker]\ndind = "yes"', 'docker.dind', 4],
    ['[docker]\nallowed_hosts = ["https://a.example/x"]', 'docker.allowed_hosts.0', 4],
    ['[docker]\ncapabilities_add = ["net admin"]', 'docker.capabilities_add.0', 4],
    ['[unknown]\nmodel = "x"', 'unknown', 3],
    ['[claude]\ntemperature = 1', 'claude.temperature', 4],
    ['[claude]\nmodel = ""', 'claude.model', 4],
    ['[env."NOT A NAME"]\ndefault = "x"', 'env.NOT A NAME', 3],
    ['[env.JACKIN_HOME_DIR]\ndefault = "x"', 'env.JACKIN_HOME_DIR', 3],
    ['[env.DOCKER_HOST]\ndefault = "x"', 'env.DOCKER_HOST', 3],
    ['[env.A]\ndefault = 1', 'env.A.default', 4],
    ['[env.A]\nsecret = true', 'env.A.secret', 4],
    ['[env.A]\noptions = []', 'env.A.options', 4],
    ['[env.A]\ndefault = "z"\noptions = ["x", "y"]', 'env.A.default', 4],
    ['[env.A]\ninteractive = false\nprompt = "A?"', 'env.A.prompt', 5],
    ['[env.A]\ndepends_on = ["B"]', 'env.A.depends_on', 4],
    ['[env.A]\ndepends_on = ["A"]', 'env.A.depends_on', 4],
    ['[hooks]\nsetup = "x.sh"', 'hooks.setup', 4],
    ['[hooks]\nsource = ""', 'hooks.source', 4],
    ['[identity]\nname = ""', 'identity.name', 4],
    ['[identity]\nname = 7', 'identity.name', 4],
  ])('with %j is refused by file, key and line', async (lines, key, line) => {
    const error = await refused(`${HEAD}${lines}\n`);
    expect(error).toMatchObject({ code: 'ROLE_INVALID', details: { file: FILE, key, line } });
    expect(error.message).toContain(`${FILE}:${line}: ${key}: `);
    expect(error.hint).toMatch(/\. Then run the command again\.$/);
  });

  test('a cycle of variables is found however long it is', async () => {
    const cycle = ['A', 'B', 'C']
      .map((name, at) => `[env.${name}]\ndepends_on = ["${'BCA'[at]}"]\n`)
      .join('');
    const { details } = await refused(`${HEAD}${cycle}`);
    expect(details.problems).toMatchObject(
      ['A', 'B', 'C'].map((name) => ({ key: `env.${name}.depends_on` })),
    );
    expect(
      parse(`${HEAD}[env.A]\n[env.B]\ndepends_on = ["A"]\n[env.C]\ndepends_on = ["A", "B"]\n`).unsupported,
    ).toEqual(['env.A', 'env.B', 'env.C']);
  });

  test('does not show the value of a variable', async () => {
    const error = await refused(`${HEAD}[env.TOKEN]\ndefault = 4242424242\n`);
    expect(JSON.stringify(error)).not.toContain('4242424242');
  });

  test('without a Dockerfile says which to write', async () => {
    const error = await refused('version = "v1alpha6"\n');
    expect(error.message).toContain('dockerfile: expected the path of the Dockerfile');
  });

  test('names every problem at once, each with its line', async () => {
    const error = await refused(`${HEAD}agents = []\nextra = 1\n`);
    expect(error.details.problems).toMatchObject([
      { key: 'agents', line: 3 },
      { key: 'extra', line: 4 },
    ]);
    expect(error.message).toContain('extra: unknown field (line 4)');
  });

  test.each([
    ['agents = [\n', 4],
    ['agents = ["a"]\nagents = ["b"]\n', 4],
    ['[__proto__]\nx = 1\n', 3],
  ])('that is no TOML is refused with its line: %j', async (lines, line) => {
    const error = await refused(`${HEAD}${lines}`);
    expect(error).toMatchObject({ code: 'ROLE_INVALID', details: { file: FILE, line } });
    expect(error.message).toContain(`${FILE}:${line}: not valid TOML`);
  });

  test('tells what it asks for and cannot get', () => {
    const text = `${HEAD}[hooks]\nsetup_once = "a.sh"\n[env.TOKEN]\nprompt = "Token"\n[docker]\nmin_profile = "locked"\ndind = "rootless"\nallowed_hosts = ["a.example"]\ncapabilities_add = ["NET_ADMIN"]\n`;
    expect(parse(text).unsupported).toEqual([
      'hooks.setup_once',
      'env.TOKEN',
      'docker.min_profile',
      'docker.dind',
      'docker.allowed_hosts',
      'docker.capabilities_add',
    ]);
  });

  test('asks for nothing with what every instance has', () => {
    const text = `${HEAD}[hooks]\n[docker]\nmin_profile = "standard"\ndind = "none"\nallowed_hosts = []\n`;
    expect(parse(text).unsupported).toEqual([]);
  });
});

describe('the version of a role manifest', () => {
  const REST = 'dockerfile = "Dockerfile"\n';

  test.each(['', ...[1, 2, 3, 4, 5, 6].map((n) => `version = "v1alpha${n}"\n`)])(
    'may be an older one as long as nothing newer is used: %j',
    (stamp) => {
      const { version, agents } = parse(`${stamp}${REST}agents = ["claude"]\n`);
      expect(agents).toEqual(['claude']);
      expect(version).toBe(/"(.+)"/.exec(stamp)?.[1] ?? 'legacy');
    },
  );

  test.each([
    ['', 'agents = ["opencode"]', 'the agent opencode', 'v1alpha3', 'has no version'],
    ['v1alpha2', 'agents = ["opencode"]', 'the agent opencode', 'v1alpha3', 'has version "v1alpha2"'],
    ['v1alpha3', 'agents = ["claude", "kimi"]', 'the agent kimi', 'v1alpha4', 'has version "v1alpha3"'],
    ['v1alpha4', '[claude]\nmodel = "opus"', '[claude]', 'v1alpha5', 'has version "v1alpha4"'],
    ['v1alpha5', '[docker]\ndind = "none"', '[docker]', 'v1alpha6', 'has version "v1alpha5"'],
  ])(
    '%j with %j is refused with the command that brings it up to date',
    async (version, line, key, needs, told) => {
      const stamp = version === '' ? '' : `version = "${version}"\n`;
      const error = await refused(`${stamp}${REST}${line}\n`);
      expect(error).toMatchObject({ code: 'ROLE_VERSION', details: { file: FILE, needs } });
      expect(error.message).toBe(`${FILE} ${told} and uses ${key}, which came with "${needs}".`);
      expect(error.hint).toBe('Bring it up to date with: jackin role migrate /roles/mine');
      expect(parse(`version = "${needs}"\n${REST}${line}\n`).version).toBe(needs);
    },
  );

  test.each([
    ['version = 6\n', 'version 6, which is none', 'Write version = "v1alpha6"'],
    ['version = "v1alpha06"\n', 'version "v1alpha06", which is none', 'Write version = "v1alpha6"'],
    ['version = "6"\n', 'version "6", which is none', 'Write version = "v1alpha6"'],
    ['version = "v1alpha7"\n', 'version "v1alpha7"', 'Upgrade jackin'],
    ['version = "v2"\n[newer]\nfield = 1\n', 'version "v2"', 'Upgrade jackin'],
  ])('is looked at before anything else: %j', async (text, told, hint) => {
    const error = await refused(text);
    expect(error.code).toBe('ROLE_VERSION');
    expect(error.message).toContain(told);
    expect(error.hint).toContain(hint);
  });
});
