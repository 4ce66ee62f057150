import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openRoleFiles } from '../../src/roles/directory.ts';
import { FROM, type Home, MANIFEST, openHome, refusal, writeFiles } from './support.ts';

let home: Home;
let dir: string;
beforeEach(() => {
  home = openHome();
  dir = join(home.root, 'role');
  writeFiles(dir, { 'jackin.role.toml': MANIFEST, Dockerfile: FROM });
});
afterEach(() => home.dispose());

describe('the directory of a role', () => {
  test('is opened with what its manifest says', async () => {
    const role = await openRoleFiles(dir);
    expect(role).toMatchObject({
      dir,
      dockerfile: 'Dockerfile',
      dockerfileText: FROM,
      manifestText: MANIFEST,
    });
  });

  test('may be reached by a link of the operator', async () => {
    symlinkSync('role', join(home.root, 'link'));
    expect((await openRoleFiles(join(home.root, 'link'))).dir).toBe(dir);
  });

  test('that is not there, or is a file, is named', async () => {
    writeFileSync(join(home.root, 'file'), '');
    for (const path of ['nothing', 'file', 'file/below'].map((name) => join(home.root, name))) {
      const error = await refusal(openRoleFiles(path));
      expect(error.code).toBe('ROLE_NOT_FOUND');
      expect(error.message).toContain(path);
    }
  });

  test('with a Dockerfile and no manifest is told what to write', async () => {
    writeFiles(dir, { 'jackin.role.toml': null });
    const error = await refusal(openRoleFiles(dir));
    expect(error.code).toBe('ROLE_INVALID');
    expect(error.message).toContain('missing beside the Dockerfile');
    expect(error.hint).toContain('version = "v1alpha6", and on the next line: dockerfile = "Dockerfile"');
  });

  test.each(['../outside', '/etc/passwd', 'link', 'up/outside', 'directory', 'missing', '.'])(
    'is refused where the Dockerfile is %s',
    async (dockerfile) => {
      writeFiles(home.root, { outside: FROM });
      writeFiles(dir, { link: 'link:../outside', up: 'link:..' });
      mkdirSync(join(dir, 'directory'));
      writeFiles(dir, {
        'jackin.role.toml': `version = "v1alpha6"\ndockerfile = ${JSON.stringify(dockerfile)}\n`,
      });
      const error = await refusal(openRoleFiles(dir));
      expect(error).toMatchObject({ code: 'ROLE_INVALID', details: { key: 'dockerfile', line: 2 } });
      expect(error.message).toContain(`${join(dir, 'jackin.role.toml')}:2: dockerfile: `);
    },
  );

  test.each(['../outside.sh', 'link.sh', 'missing.sh'])('is refused where a hook is %s', async (script) => {
    writeFiles(home.root, { 'outside.sh': '' });
    writeFiles(dir, {
      'link.sh': 'link:../outside.sh',
      'jackin.role.toml': `${MANIFEST}[hooks]\nsetup_once = "${script}"\n`,
    });
    expect(await refusal(openRoleFiles(dir))).toMatchObject({
      code: 'ROLE_INVALID',
      details: { key: 'hooks.setup_once', line: 5 },
    });
  });

  test('is refused where the manifest itself is a link, no text, or no manifest at all', async () => {
    writeFiles(dir, { 'jackin.role.toml': Buffer.from([0xff, 0xfe]) });
    expect((await refusal(openRoleFiles(dir))).message).toContain('not valid UTF-8');
    writeFiles(dir, { 'jackin.role.toml': 'link:/etc/hostname' });
    expect((await refusal(openRoleFiles(dir))).message).toContain('not a regular file');
    writeFiles(dir, { 'jackin.role.toml': `# ${'x'.repeat(1024 * 1024)}\n` });
    expect((await refusal(openRoleFiles(dir))).message).toContain('larger than 1 MiB');
  });
});
