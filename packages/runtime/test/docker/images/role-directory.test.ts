import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeImage, locateRole, openRole, SHIPPED_ROLES } from '../../../src/docker/images/index.ts';
import { refusal, scratch, writeRole } from './support.ts';

const FROM = 'FROM debian:bookworm-slim\n';
let dir: string;
let dispose: () => Promise<void>;

beforeEach(async () => {
  ({ dir, dispose } = await scratch());
});
afterEach(() => dispose());

describe('the directory of a role', () => {
  it('is where its source says', () => {
    const options = { home: '/home/me', shippedRoles: '/opt/roles' };
    expect(locateRole('builtin:shell', options)).toBe('/opt/roles/shell');
    expect(locateRole('builtin:shell', { home: '/home/me' })).toBe(join(SHIPPED_ROLES, 'shell'));
    expect(locateRole('/srv/role', options)).toBe('/srv/role');
    expect(locateRole('~/role', options)).toBe('/home/me/role');
  });

  it.each([
    ['builtin:../../etc', 'ROLE_NOT_FOUND'],
    ['roles/mine', 'ROLE_NOT_FOUND'],
    ['https://example.com/role.git', 'ROLE_REPOSITORY_UNSUPPORTED'],
    ['git@example.com:me/role.git', 'ROLE_REPOSITORY_UNSUPPORTED'],
  ])('%s is none', async (source, code) => {
    expect(await refusal((async () => locateRole(source, { home: '/h' }))())).toMatchObject({ code });
  });

  it.each(['shell', 'agent-smith'])('the shipped role %s can be opened', async (name) => {
    const role = await openRole(join(SHIPPED_ROLES, name));
    expect(role.manifest.unsupported).toEqual([]);
    expect(role.manifest.agents).toContain('shell');
  });

  it('may be reached by a link of the operator', async () => {
    await writeRole(join(dir, 'real'), { Dockerfile: FROM });
    await symlink('real', join(dir, 'link'));
    expect((await openRole(join(dir, 'link'))).dir).toBe(join(dir, 'real'));
  });

  it('that is not there, or is a file, is named', async () => {
    await writeFile(join(dir, 'file'), '');
    for (const path of [join(dir, 'nothing'), join(dir, 'file'), join(dir, 'file/below')]) {
      const error = await refusal(openRole(path));
      expect(error.code).toBe('ROLE_NOT_FOUND');
      expect(error.message).toContain(path);
    }
  });

  it('with a Dockerfile and no manifest is told what to write', async () => {
    await writeFile(join(dir, 'Dockerfile'), FROM);
    const error = await refusal(openRole(dir));
    expect(error.code).toBe('ROLE_INVALID');
    expect(error.message).toContain('missing beside the Dockerfile');
    expect(error.hint).toContain('version = "v1alpha6", and on the next line: dockerfile = "Dockerfile"');
  });

  it('is refused where the Dockerfile lies outside, behind a link, or is none', async () => {
    await mkdir(join(dir, 'role'));
    await writeFile(join(dir, 'outside'), FROM);
    await symlink('../outside', join(dir, 'role/link'));
    await symlink('..', join(dir, 'role/up'));
    await mkdir(join(dir, 'role/directory'));
    for (const dockerfile of [
      '../outside',
      '/etc/passwd',
      'link',
      'up/outside',
      'directory',
      'missing',
      '.',
    ]) {
      await writeRole(join(dir, 'role'), {
        'jackin.role.toml': `version = "v1alpha6"\ndockerfile = ${JSON.stringify(dockerfile)}\n`,
      });
      const error = await refusal(openRole(join(dir, 'role')));
      expect([dockerfile, error.code, error.details.key]).toEqual([dockerfile, 'ROLE_INVALID', 'dockerfile']);
    }
  });

  it('is refused where the manifest itself is a link, or no text', async () => {
    await writeRole(dir, { Dockerfile: FROM, 'jackin.role.toml': '\ufffd' });
    await writeFile(join(dir, 'jackin.role.toml'), Buffer.from([0xff, 0xfe]));
    expect((await refusal(openRole(dir))).message).toContain('not valid UTF-8');
    await mkdir(join(dir, 'linked'));
    await writeFile(join(dir, 'linked/Dockerfile'), FROM);
    await symlink('/etc/hostname', join(dir, 'linked/jackin.role.toml'));
    expect((await refusal(openRole(join(dir, 'linked')))).message).toContain('not a regular file');
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
    await writeRole(dir, { Dockerfile: FROM, 'jackin.role.toml': manifest });
    const error = await refusal(
      describeImage({ roleDir: dir, roleKey: 'mine', user: { uid: 1, gid: 1 }, args: {} }),
    );
    expect(error).toMatchObject({
      code: 'ROLE_UNSUPPORTED',
      details: { fields: ['hooks.source', 'docker.dind'] },
    });
  });
});
