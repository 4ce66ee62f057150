import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readLastScreen, readStateFiles } from '../src/client/index.ts';
import { STATE_FILE_MAX_BYTES } from '../src/protocol/index.ts';
import { createLog } from '../src/supervisor/log.ts';
import { openStateDir } from '../src/supervisor/state-dir.ts';
import { type CapsuleProcess, plan, startCapsule } from './support/capsule-process.ts';
import { onChange } from './support/file-change.ts';
import { watch } from './support/watch.ts';

const cleanUp: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

const SIZE = { sessionId: null, cols: 80, rows: 24 };

async function started(options?: Parameters<typeof startCapsule>[0]): Promise<CapsuleProcess> {
  const capsule = await startCapsule(options);
  cleanUp.push(() => capsule.dispose());
  return capsule;
}

async function scratch(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'jk-state-'));
  cleanUp.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

describe('in the state directory the capsule', () => {
  test('replaces links instead of following them, and leaves what they lead to', async () => {
    const capsule = await started();
    const victims = await scratch();
    const victim = join(victims, 'victim');
    await writeFile(victim, 'precious');
    capsule.child.kill('SIGKILL');
    await capsule.exited;
    for (const file of ['exit.json', 'heartbeat.json', 'screen.json']) {
      await rm(join(capsule.state, file), { force: true });
      await symlink(victim, join(capsule.state, file));
    }
    const again = await started({ reuse: capsule });
    const client = await again.connect();
    const view = watch(client);
    await client.startSession(plan('echo last; exit 5'));
    await view.message('session_ended');
    await again.exited;
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    for (const file of ['exit.json', 'heartbeat.json', 'screen.json']) {
      expect(lstatSync(join(again.state, file)).isFile()).toBe(true);
      expect(lstatSync(join(again.state, file)).mode & 0o777).toBe(0o600);
    }
    expect(await readStateFiles(again.state, again.instanceId)).toMatchObject({
      exit_record: { state: 'present', record: { code: 5 } },
      heartbeat: { state: 'present' },
    });
    expect(readdirSync(again.state).sort()).toEqual(['exit.json', 'heartbeat.json', 'screen.json']);
  });

  test('survives a directory where a file should be, and says so once', async () => {
    const capsule = await started();
    await mkdir(join(capsule.state, 'screen.json'));
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    for (const script of ['echo one; exit 0', 'echo two; exit 0']) {
      const session = plan(script);
      await client.startSession(session);
      await client.endSession(session.session_id, 1000);
    }
    await view.message('session_ended');
    await client.stop({ nonce: 'a-nonce-of-the-host', graceMs: 500 });
    expect(
      capsule
        .stderr()
        .split('\n')
        .filter((line) => line.includes('screen.json')),
    ).toHaveLength(1);
    await capsule.exited;
    expect(readdirSync(capsule.state).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('removes what a killed capsule was writing, and nothing else', async () => {
    const dir = await scratch();
    const names = ['.exit.json.0123abcd.tmp', '.exit.json.tmp', 'notes.tmp', 'exit.json'];
    for (const name of names) await writeFile(join(dir, name), '{}');
    openStateDir(dir, createLog());
    expect(readdirSync(dir).sort()).toEqual(['.exit.json.tmp', 'exit.json', 'notes.tmp']);
  });

  const mountable = process.platform === 'linux' && process.getuid?.() === 0;
  (mountable ? test : test.skip)(
    'goes on when the disk is full, says so once, and writes again when there is room',
    async () => {
      const mount = await scratch();
      expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mount]).status).toBe(0);
      cleanUp.push(() => spawnSync('umount', [mount]));
      const capsule = await started();
      capsule.child.kill('SIGKILL');
      await capsule.exited;
      await rm(capsule.state, { recursive: true });
      expect(spawnSync('mkdir', [join(mount, 'state')]).status).toBe(0);
      spawnSync('dd', ['if=/dev/zero', `of=${join(mount, 'state', 'fill')}`, 'bs=4k'], { stdio: 'ignore' });
      await symlink(join(mount, 'state'), capsule.state);
      const again = await started({ reuse: capsule });
      const client = await again.connect();
      const view = watch(client);
      await client.attach(SIZE);
      await client.startSession(plan('echo works; read x'));
      await view.screen('works');
      client.write(Buffer.from('\r'));
      await view.message('session_ended');
      expect(existsSync(join(mount, 'state', 'exit.json'))).toBe(false);
      expect(again.stderr()).toMatch(/cannot write .*exit\.json: ENOSPC/);
      await rm(join(mount, 'state', 'fill'));
      const session = plan('exit 6');
      await client.startSession(session);
      await view.message('session_ended', (one) => one.session.session_id === session.session_id);
      const code = await onChange(join(mount, 'state'), async () => {
        const text = existsSync(join(mount, 'state', 'exit.json'))
          ? readFileSync(join(mount, 'state', 'exit.json'), 'utf8')
          : '';
        return text === '' ? null : JSON.parse(text).code;
      });
      expect(code).toBe(6);
      client.close();
      expect(await again.exited).toEqual({ code: 0, signal: null });
      const lines = again.stderr().split('\n');
      expect(lines.filter((line) => line.includes('heartbeat.json'))).toHaveLength(1);
    },
  );
});

describe('the socket', () => {
  test('is closed to others and taken over from a capsule that died', async () => {
    const capsule = await started();
    expect(lstatSync(capsule.socket).mode & 0o777).toBe(0o600);
    capsule.child.kill('SIGKILL');
    await capsule.exited;
    expect(existsSync(capsule.socket)).toBe(true);
    const again = await started({ reuse: capsule });
    expect((await again.connect()).welcome.pid).toBe(again.child.pid);
  });

  test('is not taken from a living capsule', async () => {
    const capsule = await started();
    await expect(startCapsule({ reuse: { ...capsule, dir: capsule.dir } })).rejects.toThrow(
      /CAPSULE_RUNNING/,
    );
  });

  test('replaces a file or a link that lies in its place, not what the link leads to', async () => {
    const foreign = join(await scratch(), 'foreign.sock');
    const server = createServer(() => {}).listen(foreign);
    cleanUp.push(() => new Promise((resolve) => server.close(resolve)));
    const capsule = await started();
    capsule.child.kill('SIGKILL');
    await capsule.exited;
    await rm(capsule.socket);
    await symlink(foreign, capsule.socket);
    const again = await started({ reuse: capsule });
    expect(lstatSync(again.socket).isSocket()).toBe(true);
    expect((await again.connect()).welcome.pid).toBe(again.child.pid);
    expect(existsSync(foreign)).toBe(true);
  });
});

describe('the program refuses to start, names the reason and exits', () => {
  const run = (args: string[], env: Record<string, string> = {}) => {
    const main = new URL('../src/main.ts', import.meta.url).pathname;
    const result = spawnSync(process.execPath, ['--conditions=@jackin/source', main, ...args], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    return { status: result.status, stderr: result.stderr };
  };

  test('without its arguments', () => {
    expect(run([])).toMatchObject({ status: 2, stderr: expect.stringContaining('USAGE') });
    expect(run(['--frobnicate'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--frobnicate'),
    });
  });

  test('without a configuration, or with one of another instance', async () => {
    const dir = await scratch();
    const config = join(dir, 'agent.toml');
    const args = ['--config', config, '--state', dir, '--socket', join(dir, 's')];
    expect(run(args, { JACKIN_INSTANCE: 'one' })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('AGENT_CONFIG_INVALID'),
    });
    const key = 'k'.repeat(64);
    await writeFile(
      config,
      `instance_id = "two"\nrole = "r"\nworkdir = "/"\nagents = []\ncapsule_key = "${key}"\n`,
    );
    const result = run(args, { JACKIN_INSTANCE: 'one' });
    expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining('two') });
    expect(result.stderr).not.toContain(key);
  });

  test('with a socket path that is too long', async () => {
    const dir = await scratch();
    const config = join(dir, 'agent.toml');
    await writeFile(
      config,
      `instance_id = "one"\nrole = "r"\nworkdir = "/"\nagents = []\ncapsule_key = "${'k'.repeat(64)}"\n`,
    );
    const result = run(['--config', config, '--state', dir, '--socket', join(dir, 'x'.repeat(120))], {
      JACKIN_INSTANCE: 'one',
    });
    expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining('103 bytes') });
  });
});

describe('state files are read as untrusted input', () => {
  const ID = 'abc';
  const RECORD = {
    version: 1,
    instance_id: ID,
    boot_id: 'b',
    at: 'now',
    ended_by: 'agent',
    code: 0,
    signal: null,
    oom: false,
    agent: 'shell',
    session_id: 's',
  };

  async function withExit(prepare: (file: string, dir: string) => Promise<unknown>) {
    const dir = await scratch();
    await prepare(join(dir, 'exit.json'), dir);
    return (await readStateFiles(dir, ID)).exit_record;
  }

  test('a valid record is there', async () => {
    const record = await withExit((file) => writeFile(file, JSON.stringify(RECORD)));
    expect(record).toEqual({ state: 'present', record: { ...RECORD, oom_note: false } });
  });

  test('nothing is absent, and so is a directory that is not there', async () => {
    expect(await withExit(async () => {})).toEqual({ state: 'absent' });
    expect(await readStateFiles('/no/such/dir', ID)).toEqual({
      exit_record: { state: 'absent' },
      heartbeat: { state: 'absent' },
    });
  });

  test.each([
    ['not JSON', (file: string) => writeFile(file, '{"version":1,')],
    ['empty', (file: string) => writeFile(file, '')],
    ['NUL bytes', (file: string) => writeFile(file, Buffer.alloc(100))],
    [
      'of another instance',
      (file: string) => writeFile(file, JSON.stringify({ ...RECORD, instance_id: 'other' })),
    ],
    ['of a newer version', (file: string) => writeFile(file, JSON.stringify({ ...RECORD, version: 2 }))],
    ['too large', (file: string) => writeFile(file, JSON.stringify(RECORD).padEnd(STATE_FILE_MAX_BYTES + 1))],
    ['a directory', (file: string) => mkdir(file)],
    [
      'a link to a valid one',
      async (file: string, dir: string) => {
        await writeFile(join(dir, 'valid'), JSON.stringify(RECORD));
        await symlink(join(dir, 'valid'), file);
      },
    ],
    ['a link to a device', (file: string) => symlink('/dev/zero', file)],
    ['a pipe', async (file: string) => expect(spawnSync('mkfifo', [file]).status).toBe(0)],
  ])('%s is unreadable, which is not absent', async (_, prepare) => {
    expect(await withExit(prepare)).toMatchObject({
      state: 'unreadable',
      reason: expect.stringContaining('exit.json'),
    });
  });

  test('a linked directory is not read', async () => {
    const dir = await scratch();
    await writeFile(join(dir, 'exit.json'), JSON.stringify(RECORD));
    await symlink(dir, `${dir}-link`);
    cleanUp.push(() => rm(`${dir}-link`));
    expect((await readStateFiles(`${dir}-link`, ID)).exit_record).toMatchObject({ state: 'unreadable' });
  });

  test('the last screen is bounded text', async () => {
    const dir = await scratch();
    expect(await readLastScreen(dir)).toBeNull();
    await writeFile(
      join(dir, 'screen.json'),
      JSON.stringify({ version: 1, session_id: 's', title: 't', at: 'now', lines: ['x'.repeat(5000)] }),
    );
    expect(await readLastScreen(dir)).toBeNull();
  });
});
