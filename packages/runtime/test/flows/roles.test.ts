import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { gitRole } from './git-role.ts';
import { killAll, type Lab, loaded, loadRequest, openLab, quiet } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
let role: ReturnType<typeof gitRole>;
beforeEach(async () => {
  lab = await openLab();
  role = gitRole(join(lab.root, 'role'));
});
afterEach(() => lab.dispose());

const HEAD = 'version = "v1alpha6"\ndockerfile = "Dockerfile"\nagents = ["shell"]\n';
const configure = (trusted = true, rest = '') =>
  lab.config(`${rest}[roles.mine]\ngit = "${role.url}"\ntrusted = ${trusted}\n`);
const mine = (changes: Parameters<typeof loadRequest>[0] = {}) =>
  loadRequest({ role: 'mine', session: 'new', ...changes });
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => Promise.reject(new Error('it was not refused')),
    (error) => error,
  );
const everything = () =>
  existsSync(lab.paths.homeDir) ? readdirSync(lab.paths.homeDir, { recursive: true }).map(String) : [];
const instances = () => everything().filter((name) => /\/jk-/.test(name));
const notices = () => lab.events.flatMap((event) => (event.type === 'notice' ? [event] : []));

describe('a role from a repository', () => {
  test('is recorded with its address and commit, and with what its manifest says', async () => {
    await configure();
    const { container_base: base } = loaded(await lab.jackin().load(mine()));
    expect(await lab.manifest(base)).toMatchObject({
      role_key: 'mine',
      role_display_name: 'From Git',
      role_source_git: role.url,
      role_source_ref: null,
      role_git_sha: role.first,
      supported_agents: ['shell'],
      recipe: { role: { source: role.url, ref: null, commit: role.first } },
    });
  });

  test('with a branch is recorded with it', async () => {
    role.git('checkout', '--quiet', '-b', 'next');
    const commit = role.commit({ new: 'x' });
    role.git('checkout', '--quiet', 'main');
    await configure();
    const { container_base: base } = loaded(await lab.jackin().load(mine({ roleBranch: 'next' })));
    expect(await lab.manifest(base)).toMatchObject({ role_source_ref: 'next', role_git_sha: commit });
  });

  test('a resume uses what was recorded, whatever configuration and repository say today', async () => {
    await configure();
    const { container_base: base, instance_id: id } = loaded(await lab.jackin().load(mine()));
    const { recipe } = await lab.manifest(base);
    await killAll(id);
    role.commit({ 'jackin.role.toml': `${HEAD}agents = [` });
    await configure(false, 'role_repo_refresh_ttl_seconds = 0\n');
    const resume = () => lab.jackin().resume({ instance: id, policy: null, detach: true, ...quiet });
    expect(await resume()).toMatchObject({ document: { tier: 1 } });
    await killAll(id);
    await lab.config('');
    renameSync(role.dir, `${role.dir}.gone`);
    expect(await resume()).toMatchObject({ document: { tier: 1 } });
    expect(await lab.manifest(base)).toMatchObject({ role_git_sha: role.first, recipe });
  });

  test('a session is found and resumed by load although its role cannot be fetched any more', async () => {
    await configure(true, 'role_repo_refresh_ttl_seconds = 0\n');
    const first = loaded(await lab.jackin().load(mine()));
    await killAll(first.instance_id);
    role.commit({ 'jackin.role.toml': `${HEAD}agents = [` });
    const again = loaded(await lab.jackin().load(mine({ session: 'newest' })));
    expect(again.instance_id).toBe(first.instance_id);
    expect(await refused(lab.jackin().load(mine()))).toMatchObject({ code: 'ROLE_INVALID' });
  });

  test('that is gone starts from the cached commit and says so', async () => {
    await configure(true, 'role_repo_refresh_ttl_seconds = 0\n');
    loaded(await lab.jackin().load(mine()));
    renameSync(role.dir, `${role.dir}.gone`);
    const { container_base: base } = loaded(await lab.jackin().load(mine()));
    expect(await lab.manifest(base)).toMatchObject({ role_git_sha: role.first });
    expect(notices()).toContainEqual(
      expect.objectContaining({
        code: 'ROLE_NOT_REFRESHED',
        message: expect.stringContaining(role.first.slice(0, 7)),
      }),
    );
  });

  test('that was never there is an error before anything is made', async () => {
    renameSync(role.dir, `${role.dir}.gone`);
    await configure();
    for (const session of ['new', null] as const) {
      expect(await refused(lab.jackin().load(mine({ session })))).toMatchObject({ code: 'ROLE_UNAVAILABLE' });
    }
    expect(instances()).toEqual([]);
  });

  test('is not started by a dry run, which neither fetches nor writes', async () => {
    await configure();
    const dry = mine({ dryRun: true });
    expect(await refused(lab.jackin().load(dry))).toMatchObject({ code: 'ROLE_NOT_FETCHED' });
    expect(everything()).toEqual([]);
    loaded(await lab.jackin().load(mine()));
    role.commit({ new: 'x' });
    await configure(true, 'role_repo_refresh_ttl_seconds = 0\n');
    const before = everything();
    const planned = await lab.jackin().load(dry);
    expect(everything()).toEqual(before);
    const create = planned.kind === 'plan' ? planned.document.plan.steps[0] : null;
    expect(create).toMatchObject({ op: 'create_instance', manifest: { role_git_sha: role.first } });
  });
});

describe('trust', () => {
  const asked: string[] = [];
  const answering = (answer: boolean) => ({
    prompts: {
      available: true,
      confirm: async ({ title }: { title: string }) => {
        asked.push(title);
        return answer;
      },
    },
  });
  beforeEach(() => {
    asked.length = 0;
  });

  test('is needed before a repository is asked for anything, and nobody can be asked: exit code 3', async () => {
    await configure(false);
    for (const session of ['new', null] as const) {
      const error = await refused(lab.jackin().load(mine({ session })));
      expect(error).toMatchObject({ code: 'ROLE_NOT_TRUSTED', exitCode: 3 });
      expect(error.hint).toContain('jackin config trust mine');
    }
    expect(instances()).toEqual([]);
    expect(lab.events.filter((event) => event.type === 'stage')).toEqual([]);
  });

  test('given once at the terminal starts the session, and is asked for again', async () => {
    await configure(false);
    loaded(await lab.jackin(answering(true)).load(mine()));
    expect(asked).toEqual([`use the role mine from ${role.url} this once`]);
    loaded(await lab.jackin(answering(true)).load(mine()));
    expect(asked).toHaveLength(2);
    expect(await refused(lab.jackin().load(mine()))).toMatchObject({ code: 'ROLE_NOT_TRUSTED' });
  });

  test('refused at the terminal makes nothing', async () => {
    await configure(false);
    expect(await refused(lab.jackin(answering(false)).load(mine()))).toMatchObject({ code: 'ROLE_DECLINED' });
    expect(instances()).toEqual([]);
  });

  test('is not asked for to resume what is there', async () => {
    await configure();
    const { instance_id: id } = loaded(await lab.jackin().load(mine()));
    await killAll(id);
    await configure(false);
    expect(loaded(await lab.jackin(answering(false)).load(mine({ session: 'newest' }))).instance_id).toBe(id);
    expect(asked).toEqual([]);
  });
});

describe('what a role asks for', () => {
  const roleWith = (lines: string) => role.commit({ 'jackin.role.toml': `${HEAD}${lines}`, 'a.sh': '' });

  test('and a process on this machine cannot have is a notice', async () => {
    roleWith('[shell]\nmodel = "big"\n[docker]\nmin_profile = "locked"\n');
    await configure();
    loaded(await lab.jackin().load(mine()));
    expect(
      notices()
        .filter(({ code }) => code === 'NOT_ENFORCED')
        .map(({ message }) => message),
    ).toEqual([
      'standalone has no container: docker.min_profile of the role mine is not enforced',
      'the role mine names the model big for shell: this version starts it with its own choice',
    ]);
  });

  test.each(['[hooks]\nsetup_once = "a.sh"\n', '[env.TOKEN]\nprompt = "Token?"\n'])(
    'and must not be left out is refused: %j',
    async (lines) => {
      roleWith(lines);
      await configure();
      expect(await refused(lab.jackin().load(mine()))).toMatchObject({ code: 'ROLE_UNSUPPORTED' });
      expect(instances()).toEqual([]);
    },
  );

  test('of agents is what there is to choose from', async () => {
    await configure();
    expect(await refused(lab.jackin().load(mine({ agent: 'claude' })))).toMatchObject({
      code: 'AGENT_NOT_SUPPORTED',
      details: { supported: ['shell'] },
    });
  });
});

test('a role that is a directory is opened on this machine too, and recorded by its path', async () => {
  await lab.config(`[roles.mine]\npath = "${role.dir}"\n`);
  const { container_base: base } = loaded(await lab.jackin().load(mine()));
  expect(await lab.manifest(base)).toMatchObject({
    role_display_name: 'From Git',
    role_source_git: null,
    role_git_sha: null,
    recipe: { role: { source: role.dir } },
  });
  await lab.config('[roles.mine]\npath = "/no/such/role"\n');
  expect(await refused(lab.jackin().load(mine()))).toMatchObject({ code: 'ROLE_NOT_FOUND' });
});
