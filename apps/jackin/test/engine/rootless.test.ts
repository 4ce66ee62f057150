import { execFile, execFileSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  type RootlessEngine,
  rootlessObstacle,
  startRootless,
} from '../../../../tools/docker-lab/rootless.ts';
import { createRepository, type Repository } from '../e2e/support/repository.ts';
import { BIN, eventually } from '../e2e/support/sandbox.ts';

jest.setTimeout(240_000);

const NODE_MODULES = fileURLToPath(new URL('../../../../node_modules/', import.meta.url));
const AGENT =
  'git config --global user.name agent; git config --global user.email agent@example.test; test -e one || { echo one > one && git add one && git commit -qm one && mkdir -m 700 made && echo more > made/note; }; trap "exit 0" TERM HUP; while :; do sleep 1; done';

const obstacle = await rootlessObstacle();
if (obstacle !== null) process.stderr.write(`Skipped for want of a rootless engine: ${obstacle}\n`);
const suite = obstacle === null ? describe : describe.skip;

suite('on a rootless engine', () => {
  let engine: RootlessEngine;
  let bin: string;
  let repository: Repository;
  let count = 0;

  beforeAll(async () => {
    engine = await startRootless();
    // Its user need not be able to read this directory.
    const app = join(engine.dir, 'app');
    bin = join(app, 'dist/bundle/bin.js');
    cpSync(dirname(BIN), dirname(bin), { recursive: true });
    cpSync(join(NODE_MODULES, '@lydell'), join(app, 'node_modules/@lydell'), {
      recursive: true,
      dereference: true,
    });
    cpSync(process.execPath, join(app, 'node'));
    owned(app);
  });
  afterAll(() => engine?.dispose());

  beforeEach(() => {
    count += 1;
    const root = join(engine.dir, `home-${count}`);
    mkdirSync(root);
    repository = createRepository(join(root, 'app'), join(root, 'remote.git'));
    owned(root);
  });

  function owned(path: string): void {
    execFileSync('chown', ['-R', `${engine.user.uid}:${engine.user.gid}`, path]);
    chownSync(path, engine.user.uid, engine.user.gid);
  }

  /** As its user, who is not root. */
  async function jackin(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const home = dirname(repository.path);
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      JACKIN_HOME_DIR: join(home, 'state'),
      JACKIN_CONFIG_DIR: join(home, 'config'),
      SHELL: '/bin/bash',
      LANG: 'C.UTF-8',
      ...engine.env,
    };
    const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
    execFile(
      join(engine.dir, 'app/node'),
      [bin, ...args],
      { ...engine.user, env, cwd: repository.path, timeout: 180_000, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    return promise;
  }

  const load = (kind: string, agent: string, ...command: string[]) => loadRole('shell', kind, agent, command);
  const loadRole = (role: string, kind: string, agent: string, command: string[] = []) =>
    jackin(
      ...['load', role, repository.path, '--agent', agent, '--new', '--detach', '--json'],
      ...['--backend', 'docker', '--mount-isolation', `${repository.path}=${kind}`, ...command],
    );

  test.each(['worktree', 'clone'])(
    'a %s is worked in by its root, assessed and removed by its user, and nothing in it belongs to anybody else',
    async (kind) => {
      const before = refs();
      const loaded = await load(kind, 'shell', '--', 'sh', '-c', AGENT);
      expect(loaded).toMatchObject({ code: 0 });
      const id = JSON.parse(loaded.stdout).data.instance_id;
      const detail = async () =>
        JSON.parse((await jackin('status', id, '--json', '--detail')).stdout).data.instances[0];
      const mount = await eventually('the agent has committed and made a file', async () => {
        const [one] = (await detail()).isolated;
        return one.evidence?.branches.length > 0 && one.evidence.files.length > 0 && one;
      });
      expect(mount.verdict).toBe('dirty');
      expect(mount.evidence.files).toMatchObject([{ status: '??', path: 'made/note' }]);
      for (const name of readdirSync(mount.path, { recursive: true }).map(String)) {
        expect(statSync(join(mount.path, name)).uid).toBe(engine.user.uid);
      }

      const stopped = await jackin('stop', id, '--json');
      expect(JSON.parse(stopped.stdout).data).toMatchObject({ outcome: 'kept', status: 'preserved_dirty' });
      const resumed = await jackin('resume', id, '--detach', '--json');
      expect(JSON.parse(resumed.stdout).data).toMatchObject({
        status: 'running',
        returned: expect.arrayContaining(['working_tree']),
      });
      await jackin('stop', id, '--json');

      const refused = await jackin('purge', id, '--yes', '--json');
      expect(refused).toMatchObject({ code: 3 });
      expect(JSON.parse(refused.stdout).error).toMatchObject({ code: 'WORK_AT_RISK' });
      const purged = await jackin('purge', id, '--force', '--json');
      expect(purged).toMatchObject({ code: 0 });
      expect(readdirSync(join(dirname(repository.path), 'state/data'))).not.toContain(`jk-${id}-shell`);
      expect(refs()).toBe(before);
    },
  );

  test('an agent that refuses root is refused before anything is made', async () => {
    const home = dirname(repository.path);
    for (const name of ['config', 'role']) mkdirSync(join(home, name));
    writeFileSync(join(home, 'config/config.toml'), `[roles.both]\npath = "${join(home, 'role')}"\n`);
    writeFileSync(join(home, 'role/Dockerfile'), 'FROM debian:bookworm-slim\n');
    writeFileSync(
      join(home, 'role/jackin.role.toml'),
      'version = "v1alpha6"\ndockerfile = "Dockerfile"\nagents = ["claude", "shell"]\n\n[identity]\nname = "Both"\n',
    );
    owned(home);
    const refused = await loadRole('both', 'worktree', 'claude');
    expect(refused).toMatchObject({ code: 1 });
    expect(JSON.parse(refused.stdout).error).toMatchObject({ code: 'ROOTLESS_AGENT' });
    expect(JSON.parse((await jackin('status', '--json')).stdout).data.instances).toEqual([]);
  });

  function refs(): string {
    const git = ['-c', `safe.directory=${repository.path}`, '-C', repository.path];
    return execFileSync('git', [...git, 'for-each-ref'], { encoding: 'utf8' });
  }
});
