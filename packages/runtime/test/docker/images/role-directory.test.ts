import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { agentRegistry } from '@jackin/agents';
import { parseRoleManifest } from '@jackin/config';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeImage, openRole, SHIPPED_ROLES } from '../../../src/docker/images/index.ts';
import { validateRole } from '../../../src/docker/images/role-validate.ts';
import { refusal, scratch, writeRole } from './support.ts';

const FROM = 'FROM debian:bookworm-slim\n';
let dir: string;
let dispose: () => Promise<void>;

beforeEach(async () => {
  ({ dir, dispose } = await scratch());
});
afterEach(() => dispose());

describe('the directory of a role', () => {
  it.each(['shell', 'agent-smith'])('the shipped role %s can be opened', async (name) => {
    const role = await openRole(join(SHIPPED_ROLES, name));
    expect(role.manifest.unsupported).toEqual([]);
    expect(role.manifest.agents).toContain('shell');
  });

  it.each(agentRegistry.map(({ id }) => id))('may name a model for %s without listing it', (id) => {
    const text = `version = "v1alpha6"\ndockerfile = "Dockerfile"\n[${id}]\nmodel = "m"\n`;
    expect(parseRoleManifest('/r/jackin.role.toml', text).models).toEqual({ [id]: 'm' });
  });

  it.each([
    ['no FROM', 'RUN true\n', 'has no FROM'],
    ['an open end', `${FROM}RUN true \\\n`, 'ends in a continuation'],
    ['a bad ignore pattern', FROM, 'a pattern that cannot be understood'],
    ['an argument without a value', 'ARG BASE\nFROM $BASE-slim\n', '"-slim" is not the name of an image'],
  ])('with %s is refused', async (_, dockerfile, told) => {
    await writeRole(dir, {
      Dockerfile: dockerfile,
      '.dockerignore': told.includes('pattern') ? 'a(b\n' : '',
    });
    const error = await refusal(
      describeImage({ roleDir: dir, roleKey: 'mine', user: { uid: 1, gid: 1 }, args: {} }),
    );
    expect(error.code).toBe('ROLE_INVALID');
    expect(error.message).toContain(told);
  });

  it('that asks for what cannot be given yet is refused by every field', async () => {
    const manifest =
      'version = "v1alpha6"\ndockerfile = "Dockerfile"\n[hooks]\nsource = "x"\n[docker]\ndind = "rootless"\n';
    await writeRole(dir, { Dockerfile: FROM, x: '', 'jackin.role.toml': manifest });
    const error = await refusal(
      describeImage({ roleDir: dir, roleKey: 'mine', user: { uid: 1, gid: 1 }, args: {} }),
    );
    expect(error).toMatchObject({
      code: 'ROLE_UNSUPPORTED',
      details: { fields: ['hooks.source', 'docker.dind'] },
    });
  });
});

describe('the check of a role', () => {
  it.each(['shell', 'agent-smith'])('finds nothing wrong with the shipped role %s', async (name) => {
    expect(await validateRole(join(SHIPPED_ROLES, name))).toMatchObject({
      valid: true,
      problems: [],
      notices: [],
    });
  });

  it('tells every problem of the manifest with its line', async () => {
    await writeRole(dir, {
      Dockerfile: FROM,
      'jackin.role.toml': 'version = "v1alpha6"\nagents = []\nextra = 1\n',
    });
    const file = join(dir, 'jackin.role.toml');
    expect(await validateRole(dir)).toMatchObject({
      valid: false,
      manifest: null,
      problems: [
        { code: 'ROLE_INVALID', file, key: 'dockerfile', line: null },
        { code: 'ROLE_INVALID', file, key: 'agents', line: 2 },
        { code: 'ROLE_INVALID', file, key: 'extra', line: 3 },
      ],
    });
  });

  it('looks at the Dockerfile and at everything that would be sent to the builder', async () => {
    await writeRole(dir, { Dockerfile: 'RUN true\n' });
    expect((await validateRole(dir)).problems).toMatchObject([
      { file: join(dir, 'Dockerfile'), reason: 'has no FROM' },
    ]);
    await writeRole(dir, { Dockerfile: FROM });
    expect(await validateRole(dir)).toMatchObject({ valid: true });
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    expect((await validateRole(dir)).problems).toMatchObject([
      { code: 'ROLE_INVALID', file: join(dir, 'pipe') },
    ]);
  });

  it('says what is old and what this version does not do', async () => {
    const manifest =
      'version = "v1alpha5"\ndockerfile = "Dockerfile"\nagents = ["claude"]\n[claude]\nmodel = "opus"\n[env.A]\n';
    await writeRole(dir, { Dockerfile: FROM, 'jackin.role.toml': manifest });
    expect(await validateRole(dir)).toMatchObject({
      valid: false,
      problems: [{ code: 'ROLE_UNSUPPORTED', key: 'env.A', line: 6 }],
      notices: [expect.stringContaining('jackin role migrate'), expect.stringContaining('model opus')],
    });
  });

  it('of a directory that is none is an error', async () => {
    expect(await refusal(validateRole(join(dir, 'nothing')))).toMatchObject({ code: 'ROLE_NOT_FOUND' });
  });
});
