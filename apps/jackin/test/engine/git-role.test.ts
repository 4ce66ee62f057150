import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { gitRole } from '../e2e/support/git-role.ts';
import { createEngineSandbox, type EngineSandbox } from './support/engine-sandbox.ts';

jest.setTimeout(180_000);

await describeOnEngine('harmless', 'a role from a repository', (engine) => {
  let sandbox: EngineSandbox;
  let role: ReturnType<typeof gitRole>;
  const dir = () => join(sandbox.root, 'team-role');

  beforeAll(() => {
    sandbox = createEngineSandbox(engine());
    role = gitRole(dir(), ['shell']);
    configure('role_repo_refresh_ttl_seconds = 0\n', true);
  });
  afterAll(() => sandbox.dispose());

  const configure = (first: string, trusted: boolean) =>
    sandbox.writeConfig(`${first}[roles."team/role"]\ngit = "${role.url}"\ntrusted = ${trusted}\n`);

  /** The repository goes on to an image that cannot be built. */
  function goOn(): void {
    writeFileSync(join(dir(), 'Dockerfile'), 'FROM debian:bookworm-slim\nRUN exit 9\n');
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
    execFileSync('git', ['-C', dir(), ...identity, 'commit', '--quiet', '-a', '-m', 'broken']);
  }

  test('is built at its commit; what was made of it comes back as it was, wherever the repository is by now', async () => {
    const what = { role: 'team/role' };
    const instance = await sandbox.load(['sleep', '1000'], [], what);
    const manifest = sandbox.manifest(instance.base);
    expect(manifest).toMatchObject({
      role_source_git: role.url,
      role_git_sha: role.commit,
      image_tag: `jk_team_role:${role.commit.slice(0, 7)}`,
      recipe: { role: { source: role.url, commit: role.commit, dockerfile: 'Dockerfile' } },
    });
    goOn();
    const { code, json } = await sandbox.jackin(['stop', instance.id, '--keep', '--json']);
    expect([code, json().data.outcome]).toEqual([0, 'kept']);

    configure('', false);
    renameSync(dir(), `${dir()}.gone`);
    const resumed = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
    expect(resumed.json()).toMatchObject({ data: { tier: 2, status: 'running' } });
    expect(sandbox.manifest(instance.base)).toMatchObject({
      role_git_sha: role.commit,
      image_id: manifest.image_id,
      recipe: manifest.recipe,
    });

    renameSync(`${dir()}.gone`, dir());
    configure('role_repo_refresh_ttl_seconds = 0\n', true);
    const args = ['load', 'team/role', sandbox.project, '--new', '--detach', '--json', '--backend', 'docker'];
    const anew = await sandbox.jackin(args, { timeoutMs: 120_000 });
    expect(anew.json()).toMatchObject({ error: { code: 'IMAGE_BUILD_FAILED' } });
    const { instance_id: id, container_base: base } = anew.json().error.details;
    if (id !== undefined) sandbox.adopt({ id, base });
  });
});
