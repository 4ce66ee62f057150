import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lchownSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { snapshot } from '../e2e/support/evidence.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';
import { FAKE, fakeRole } from './support/fake-role.ts';
import { kept, writeAll } from './support/files.ts';
import { type Mode, usurp } from './support/hostile-capsule.ts';

const MINUTES = 60_000;
const LIMIT = 3 * MINUTES;
const STATUS_MS = 3_000;
/** What `jackin --version` takes where nothing else runs; a busy machine gets more time, by as much as it is slower. */
const VERSION_MS = 200;
/** More than a command needs beside what the two messages it may hold at a time take. */
const SPARE_BYTES = 128 * 1024 ** 2;
const MANY = 100_000;
const BIG_BYTES = 64 * 1024 ** 2;
const WORKING = ['sh', '-c', 'while :; do sleep 1; done'];
const OWNER = 1000;

await describeOnEngine('disaster', 'a hostile container', (lab) => {
  let sandbox: EngineSandbox;
  let canary: string;
  /** One that does nothing wrong, and is to be listed whatever the others do. */
  let good: Instance;

  beforeAll(async () => {
    sandbox = createEngineSandbox(lab());
    canary = `canary${randomBytes(16).toString('hex')}`;
    sandbox.env.CANARY = canary;
    // Even the policy that cleans takes nothing on the word of a container.
    sandbox.writeConfig(`dirty_exit_policy = "clean"\n${fakeRole(sandbox)}\n[env]\nTOKEN = "$CANARY"\n`);
    good = await working();
  }, LIMIT);
  afterAll(() => sandbox.dispose(), LIMIT);

  async function working(): Promise<Instance> {
    const instance = await sandbox.load(WORKING, [], FAKE);
    await writeAll(sandbox, instance);
    return instance;
  }

  const stateOf = ({ base }: Instance) => join(sandbox.state, 'data', base, 'state');

  async function run(...args: string[]) {
    const { code, json, stdout } = await sandbox.jackin([...args, '--json'], { timeoutMs: MINUTES });
    const { data, error } = json();
    return { code, data, error, stdout };
  }

  /** `status` lists everybody, within its bound; the row of the hostile one. */
  async function listed(instance: Instance, ...flags: string[]): Promise<Record<string, any>> {
    let started = performance.now();
    await sandbox.jackin(['--version']);
    const slow = Math.max(1, (performance.now() - started) / VERSION_MS);
    started = performance.now();
    const { code, data } = await run('status', ...flags);
    expect(performance.now() - started).toBeLessThan(STATUS_MS * slow);
    expect(code).toBe(0);
    const row = ({ id }: Instance) =>
      data.instances.find((one: { instance_id: string }) => one.instance_id === id);
    expect(row(good)).toMatchObject({ status: 'running', agent_alive: 'yes' });
    return row(instance);
  }

  test(
    'whose capsule.sock is a link to the socket of an engine makes nobody connect to it',
    async () => {
      const instance = await working();
      let connections = 0;
      const path = join(sandbox.root, 'stands-for-the-engine.sock');
      const bait = createServer((connection) => {
        connections += 1;
        connection.destroy();
      }).listen(path);
      await once(bait, 'listening');
      try {
        await sandbox.exec(instance, 'ln', '-sf', path, '/jackin/run/capsule.sock');
        expect(await listed(instance, '--detail')).toMatchObject({
          status: 'running',
          container: 'running',
          agent_alive: 'unknown',
        });
        const { code, error } = await run('resume', instance.id, '--detach');
        expect({ code, error }).toMatchObject({
          code: 1,
          error: { message: expect.stringContaining(instance.base) },
        });
        expect(await run('stop', instance.id, '--keep')).toMatchObject({ code: 0 });
        expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);
        expect(connections).toBe(0);
      } finally {
        bait.close();
      }
    },
    LIMIT,
  );

  test(
    'cannot rewrite its agent.toml nor the programs of all instances, not even as root',
    async () => {
      const instance = await working();
      const file = join(sandbox.state, 'data', instance.base, '.jackin/agent.toml');
      const programs = join(sandbox.state, 'runtime');
      const before = [readFileSync(file, 'utf8'), snapshot(programs)];
      for (const User of [`${OWNER}:${OWNER}`, '0:0']) {
        for (const path of [
          '/jackin/run/agent.toml',
          '/jackin/runtime/capsule.mjs',
          '/jackin/runtime/node',
        ]) {
          for (const what of ['echo forged >', 'rm -f', 'mv /etc/hostname', 'chmod 777']) {
            const exec = await sandbox.container(instance).exec({
              ...{ Cmd: ['sh', '-c', `${what} ${path}`], User, AttachStdout: true, AttachStderr: true },
            });
            const said = await exec.start({});
            await once(said.resume(), 'end');
            expect([User, what, path, (await exec.inspect()).ExitCode]).not.toEqual([User, what, path, 0]);
          }
        }
      }
      expect([readFileSync(file, 'utf8'), snapshot(programs)]).toEqual(before);
      expect(await listed(instance)).toMatchObject({ status: 'running', agent_alive: 'yes' });
    },
    LIMIT,
  );

  test(
    'is believed a forged exit record for its own end at most, and of that no policy cleans without a command',
    async () => {
      const instance = await working();
      const later = new Date(Date.now() + 60 * MINUTES).toISOString();
      const honest = {
        ...{ version: 1, instance_id: instance.id, boot_id: 'x', at: later, ended_by: 'agent' },
        ...{ code: 0, signal: null, oom: false, agent: 'codex', session_id: null },
      };
      const forge = (record: object) =>
        sandbox.exec(instance, 'sh', '-c', `echo '${JSON.stringify(record)}' >/jackin/state/exit.json`);
      const ended = async (record: object) => {
        await forge(record);
        expect(await listed(instance)).toMatchObject({ status: 'running', cause: null });
        await sandbox.container(instance).kill();
        await sandbox.container(instance).wait();
        const row = await listed(instance);
        expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);
        expect((await sandbox.container(instance).inspect()).State.Running).toBe(false);
        return row;
      };
      const again = async () =>
        expect(await run('resume', instance.id, '--detach')).toMatchObject({ code: 0, data: { tier: 1 } });

      // Nobody asked for a stop: whose request it claims to have followed does not matter.
      const request = { ...honest, ended_by: 'request', nonce: 'f'.repeat(64) };
      expect(await ended(request)).toMatchObject({ status: 'stopped', cause: 'killed', exit_pending: false });
      await again();
      expect(await ended({ ...honest, instance_id: good.id })).toMatchObject({
        ...{ status: 'stopped', cause: 'unknown', exit_pending: false },
        evidence: expect.arrayContaining([expect.stringContaining('exit record: unreadable')]),
      });
      await again();
      // That its agent ended well is the container's to say: of itself, and nobody else.
      expect(await ended(honest)).toMatchObject({
        ...{ status: 'clean_exited', cause: 'clean', exit_pending: true },
      });
    },
    LIMIT,
  );

  test.each<[string, Mode]>([
    ['before it has proven itself', 'shouter'],
    ['with its key in hand, as an answer', 'boaster'],
    ['with its key in hand, in a great many pieces', 'chatterer'],
  ])(
    'that sends 1 GB %s takes no more memory than any other',
    async (_, mode) => {
      const instance = await working();
      const usual = Math.max(
        await peakBytes(['status']),
        await peakBytes(['resume', instance.id, '--detach']),
      );
      await usurp(sandbox, instance, mode);
      expect(await listed(instance, '--detail')).toMatchObject({ status: 'running', agent_alive: 'unknown' });
      for (const args of [
        ['status', '--detail'],
        ['resume', instance.id, '--detach'],
      ]) {
        expect(await peakBytes(args)).toBeLessThan(usual + SPARE_BYTES);
      }
      await sandbox.container(instance).kill();
    },
    LIMIT,
  );

  test(
    'with an impostor in the place of its capsule is never sent a secret',
    async () => {
      const instance = await working();
      expect(
        await sandbox.exec(instance, 'sh', '-c', `cat /proc/[0-9]*/environ | grep -ac ${canary}; true`),
      ).toMatch(/[1-9]/);
      const { received } = await usurp(sandbox, instance, 'impostor');
      for (const args of [
        ['status', '--detail'],
        ['resume', instance.id, '--detach'],
        ['load', FAKE.role, sandbox.project, '--agent', FAKE.agent, '--instance', instance.id, '--detach'],
        ['stop', instance.id, '--keep'],
      ]) {
        const before = received().length;
        const { stdout } = await run(...args);
        expect(stdout).not.toContain(canary);
        // It was asked who it is, or the test proves nothing.
        expect({ args, asked: received().length > before }).toEqual({ args, asked: true });
      }
      expect(received()).toMatch(/"hello"/);
      expect(received()).not.toContain(canary);
      expect(received()).not.toMatch(/start_session|request_id/);
      expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);
    },
    LIMIT,
  );

  describe('whose state directory is full of links', () => {
    let instance: Instance;
    let outside: string;
    let before: string[];

    beforeAll(async () => {
      instance = await working();
      outside = join(sandbox.root, 'outside');
      mkdirSync(outside);
      const at = new Date(Date.now() + 60 * MINUTES).toISOString();
      const record = {
        ...{ version: 1, instance_id: instance.id, boot_id: 'x', at, ended_by: 'agent' },
        ...{ code: 0, signal: null, oom: false, agent: 'codex', session_id: null },
      };
      // Whoever follows the link believes this.
      writeFileSync(join(outside, 'exit.json'), JSON.stringify(record));
      const screen = { version: 1, session_id: 'x', title: 'x', at, lines: [canary] };
      writeFileSync(join(outside, 'screen.json'), JSON.stringify(screen));
      writeFileSync(join(outside, 'big'), Buffer.alloc(BIG_BYTES));
      await sandbox.container(instance).kill();
      await sandbox.container(instance).wait();
      before = snapshot(outside);
      const state = stateOf(instance);
      for (const name of ['exit.json', 'screen.json', 'heartbeat.json'])
        rmSync(join(state, name), { force: true });
      for (const name of ['exit.json', 'screen.json']) symlinkSync(join(outside, name), join(state, name));
      execFileSync('mkfifo', [join(state, 'heartbeat.json')]);
      for (let at = 0; at < 1_000; at += 1)
        symlinkSync(at % 2 ? '/etc/passwd' : outside, join(state, `link-${at}`));
      execFileSync('sh', ['-c', `mkdir "$0"/many && cd "$0"/many && seq ${MANY} | xargs touch`, state]);
      for (const name of ['exit.json', 'screen.json']) lchownSync(join(state, name), OWNER, OWNER);
    }, LIMIT);

    test(
      'is listed like all others, and nothing outside it is read',
      async () => {
        const row = await listed(instance, '--detail');
        expect(row).toMatchObject({ status: 'stopped', exit_pending: false });
        expect(['killed', 'unknown']).toContain(row.cause);
        expect(JSON.stringify(row)).not.toMatch(new RegExp(`${canary}|root:x`));
        expect(snapshot(outside)).toEqual(before);
      },
      LIMIT,
    );

    test(
      'has a size that is told without following one of them',
      async () => {
        const { code, data } = await run('status', instance.id, '--size');
        expect(code).toBe(0);
        expect(data.instances[0].sizes.total_bytes).toBeGreaterThan(0);
        expect(data.instances[0].sizes.total_bytes).toBeLessThan(BIG_BYTES);
      },
      LIMIT,
    );

    test(
      'comes back, and writes nothing outside it',
      async () => {
        const { code, data, error } = await run('resume', instance.id, '--detach');
        expect({ code, data, error }).toMatchObject({ code: 0, data: { tier: 1, status: 'running' } });
        expect(await listed(instance)).toMatchObject({ status: 'running', agent_alive: 'yes' });
        expect(snapshot(outside)).toEqual(before);
      },
      LIMIT,
    );

    test(
      'is purged with all of them, and nothing outside it goes',
      async () => {
        const passwd = statSync('/etc/passwd');
        const { code, data } = await run('purge', instance.id, '--yes', '--force');
        expect([code, data]).toMatchObject([0, { outcome: 'cleaned' }]);
        expect(await sandbox.traces(instance)).toEqual([]);
        expect(snapshot(outside)).toEqual(before);
        expect(statSync('/etc/passwd').ino).toBe(passwd.ino);
      },
      LIMIT,
    );
  });

  /** The most memory a command had at any time. */
  async function peakBytes(args: string[]): Promise<number> {
    const { pid, done } = sandbox.start([...args, '--json']);
    let over = false;
    void done.then(() => {
      over = true;
    });
    let peak = 0;
    while (!over) {
      try {
        const text = readFileSync(`/proc/${pid}/status`, 'utf8');
        peak = Math.max(peak, 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(text)?.[1] ?? 0));
      } catch {
        // It has just ended.
      }
      await sleep(5);
    }
    expect(peak).toBeGreaterThan(0);
    return peak;
  }
});
