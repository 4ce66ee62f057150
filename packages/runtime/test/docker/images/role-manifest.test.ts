import { describe, expect, it } from '@jest/globals';
import { parseRoleManifest } from '../../../src/docker/images/role-manifest.ts';
import { refusal } from './support.ts';

const FILE = '/roles/mine/jackin.role.toml';
const HEAD = 'version = "v1alpha6"\ndockerfile = "Dockerfile"\n';
const parse = (text: string) => parseRoleManifest(FILE, text);
const refused = (text: string) => refusal((async () => parse(text))());

describe('a role manifest', () => {
  it('names Dockerfile, agents, a name and models', () => {
    expect(
      parse(
        `${HEAD}agents = ["claude", "mine"]\n[identity]\nname = "Mine"\n[claude]\nmodel = "opus"\n[mine]\nmodel = "m"\n`,
      ),
    ).toEqual({
      dockerfile: 'Dockerfile',
      agents: ['claude', 'mine'],
      displayName: 'Mine',
      models: { claude: 'opus', mine: 'm' },
      unsupported: [],
    });
  });

  it('means claude where it names no agents', () => {
    expect(parse(HEAD).agents).toEqual(['claude']);
  });

  it.each([
    ['agents = []', 'agents'],
    ['agents = ["No Agent"]', 'agents.0'],
    ['dockerfiles = "x"', 'dockerfiles'],
    ['[docker]\nmin_profil = "locked"', 'docker.min_profil'],
    ['[docker]\ndind = "yes"', 'docker.dind'],
    ['[unknown]\nmodel = "x"', 'unknown'],
    ['[claude]\ntemperature = 1', 'claude.temperature'],
    ['[env."NOT A NAME"]\ndefault = "x"', 'env.NOT A NAME'],
    ['[hooks]\nsetup = "x.sh"', 'hooks.setup'],
    ['[identity]\nname = ""', 'identity.name'],
  ])('with %j is refused by naming the field', async (line, key) => {
    const error = await refused(`${HEAD}${line}\n`);
    expect(error).toMatchObject({ code: 'ROLE_INVALID', details: { file: FILE, key } });
    expect(error.message).toContain(`${key}: `);
  });

  it('without a Dockerfile says which to write', async () => {
    const error = await refused('version = "v1alpha6"\n');
    expect(error.message).toContain('dockerfile: expected the path of the Dockerfile');
  });

  it('names every problem at once', async () => {
    const error = await refused(`${HEAD}agents = []\nextra = 1\n`);
    expect(error.details.problems).toHaveLength(2);
  });

  it('that is no TOML is refused with line and column', async () => {
    expect((await refused(`${HEAD}agents = [\n`)).message).toMatch(
      /jackin\.role\.toml:\d+:\d+: not valid TOML/,
    );
  });

  it.each([
    ['', 'no version', 'Write version = "v1alpha6"'],
    ['version = "v1alpha5"\n', 'version "v1alpha5"', 'Write version = "v1alpha6"'],
    ['version = 6\n', 'version 6', 'Write version = "v1alpha6"'],
    ['version = "v1alpha7"\n', 'version "v1alpha7"', 'Upgrade jackin'],
    ['version = "v2"\n[newer]\nfield = 1\n', 'version "v2"', 'Upgrade jackin'],
  ])('of another version is refused before anything else: %j', async (text, told, hint) => {
    const error = await refused(text);
    expect(error.code).toBe('ROLE_VERSION');
    expect(error.message).toContain(told);
    expect(error.hint).toContain(hint);
  });

  it('tells what it asks for and cannot get', () => {
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

  it('asks for nothing with what every instance has', () => {
    const text = `${HEAD}[hooks]\n[docker]\nmin_profile = "standard"\ndind = "none"\nallowed_hosts = []\n`;
    expect(parse(text).unsupported).toEqual([]);
  });
});
