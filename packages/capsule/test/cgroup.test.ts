import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { readStateFiles } from '../src/client/index.ts';
import { removeStaleCgroups } from '../src/index.ts';
import { findHierarchies } from '../src/supervisor/cgroup-tree.ts';
import { createSessionCgroup, surroundingOomKills } from '../src/supervisor/session-cgroup.ts';
import { type CapsuleProcess, plan, startCapsule } from './support/capsule-process.ts';
import { watch } from './support/watch.ts';

const SIZE = { sessionId: null, cols: 80, rows: 24 };
/** Fills memory until something ends it. */
const HOG = `${process.execPath} -e 'const all = []; for (;;) all.push(Buffer.alloc(1 << 22, 1))'`;
const memory = findHierarchies().get('memory');
const possible = process.getuid?.() === 0 && memory !== undefined;

function groupsOf(instanceId: string): string[] {
  const parents = [...findHierarchies().values()].flatMap(({ own, root }) => [own, root]);
  return [...new Set(parents)].flatMap((parent) =>
    readdirSync(parent).filter((name) => name.includes(instanceId)),
  );
}

describe('where control groups are', () => {
  const V1_MOUNTS = [
    '30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw',
    '31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpu,cpuacct',
    '34 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory',
  ].join('\n');

  test('version 1, one mount for each, seen from the host and from inside a container', () => {
    const found = findHierarchies(
      V1_MOUNTS,
      '4:memory:/docker/abc/deeper\n2:cpu,cpuacct:/user\n1:name=systemd:/x\n',
    );
    expect(found.get('cpu')).toEqual({
      version: 1,
      own: '/sys/fs/cgroup/cpu,cpuacct/user',
      root: '/sys/fs/cgroup/cpu,cpuacct',
    });
    expect(found.get('memory')).toEqual({
      version: 1,
      own: '/sys/fs/cgroup/memory/deeper',
      root: '/sys/fs/cgroup/memory',
    });
    expect(found.has('pids')).toBe(false);
  });

  test('a group outside what the mount shows is the mount itself', () => {
    const found = findHierarchies(V1_MOUNTS, '4:memory:/somewhere/else\n');
    expect(found.get('memory')?.own).toBe('/sys/fs/cgroup/memory');
  });

  test('version 2 has the controllers it says it has', () => {
    const found = findHierarchies('25 1 0:1 / /no/such/mount rw - cgroup2 cgroup2 rw\n', '0::/user.slice\n');
    expect(found.size).toBe(0);
  });
});

describe('without control groups', () => {
  const options = { instanceId: 'abc', sessionId: 's', hierarchies: new Map() };

  test('a session without limits has none, and one with limits is refused', () => {
    expect(createSessionCgroup({ ...options, limits: {} })).toBeNull();
    for (const limits of [{ memory_bytes: 1e8 }, { pids: 5 }, { cpus: 0.5 }]) {
      expect(() => createSessionCgroup({ ...options, limits })).toThrow(
        expect.objectContaining({ code: 'LIMIT_UNENFORCEABLE' }),
      );
    }
  });
});

describe('the kills around a capsule that can make no groups', () => {
  const directory = mkdtempSync(join(tmpdir(), 'jk-cgroup-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  test.each([
    [1, 'memory.oom_control', 'oom_kill_disable 0\nunder_oom 0\noom_kill '],
    [2, 'memory.events', 'low 0\noom 4\noom_kill '],
  ] as const)('version %i: they are counted from now on', (version, file, text) => {
    const count = (kills: number) => writeFileSync(join(directory, file), `${text}${kills}\n`);
    count(3);
    const kills = surroundingOomKills(new Map([['memory', { version, own: directory, root: directory }]]));
    expect(kills()).toBe(0);
    count(5);
    expect(kills()).toBe(2);
  });

  test('in a group below what can be seen they may be those of strangers, and do not count', () => {
    writeFileSync(join(directory, 'memory.events'), 'oom_kill 1\n');
    const memory = { version: 2, own: directory, root: tmpdir() } as const;
    const kills = surroundingOomKills(new Map([['memory', memory]]));
    writeFileSync(join(directory, 'memory.events'), 'oom_kill 9\n');
    expect(kills()).toBe(0);
  });
});

(possible ? describe : describe.skip)('a session in its own control group', () => {
  let capsule: CapsuleProcess;
  afterEach(() => capsule.dispose());

  async function record() {
    const { exit_record } = await readStateFiles(capsule.state, capsule.instanceId);
    return exit_record.state === 'present' ? exit_record.record : exit_record;
  }

  test('that runs out of memory says so; the group goes with the session', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan(`exec ${HOG}`, { limits: { memory_bytes: 128 * 1024 * 1024 } }));
    const { session } = await view.message('session_ended');
    expect(session.ended).toMatchObject({ code: null, signal: 'SIGKILL', oom: true });
    expect(await record()).toMatchObject({
      ended_by: 'agent',
      signal: 'SIGKILL',
      oom: true,
      oom_note: false,
    });
    client.close();
    await capsule.exited;
    expect(groupsOf(capsule.instanceId)).toEqual([]);
  }, 60_000);

  test('whose child runs out of memory while it goes on has a note, not a cause', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan(`${HOG}; exit 0`, { limits: { memory_bytes: 128 * 1024 * 1024 } }));
    const { session } = await view.message('session_ended');
    expect(session.ended).toMatchObject({ code: 0, oom: false });
    expect(await record()).toMatchObject({ code: 0, oom: false, oom_note: true });
  }, 60_000);

  test('next to another one that runs out of memory is not accused', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    const innocent = plan('read x; kill -9 $$');
    await client.startSession(innocent);
    await client.startSession(plan(`exec ${HOG}`, { limits: { memory_bytes: 128 * 1024 * 1024 } }));
    await view.message('session_ended');
    await client.attach({ ...SIZE, sessionId: innocent.session_id });
    client.write(Buffer.from('\r'));
    client.close();
    await capsule.exited;
    expect(await record()).toMatchObject({ session_id: innocent.session_id, signal: 'SIGKILL', oom: false });
  }, 60_000);

  test('is limited in processes and CPU from its first instruction', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    const limits = { pids: 7, cpus: 0.5, memory_bytes: 64 * 1024 * 1024 };
    await client.startSession(plan('cat /proc/self/cgroup; echo shown; read x', { limits }));
    await view.screen('shown');
    for (const controller of ['memory', 'pids', 'cpu'] as const) {
      const hierarchy = findHierarchies().get(controller);
      const group = readdirSync(hierarchy?.own ?? '').find((name) =>
        name.startsWith(`jackin-${capsule.instanceId}-`),
      );
      const directory = join(hierarchy?.own ?? '', group ?? 'none');
      const read = (v1: string, v2: string): string =>
        readFileSync(join(directory, hierarchy?.version === 2 ? v2 : v1), 'utf8').trim();
      if (controller === 'memory')
        expect(read('memory.limit_in_bytes', 'memory.max')).toBe(String(limits.memory_bytes));
      if (controller === 'pids') expect(read('pids.max', 'pids.max')).toBe('7');
      if (controller === 'cpu') expect(read('cpu.cfs_quota_us', 'cpu.max')).toMatch(/^50000/);
      expect(read('cgroup.procs', 'cgroup.procs').split('\n')).toContain(
        String((await client.list())[0]?.pid),
      );
      const own = readFileSync('/proc/self/cgroup', 'utf8');
      expect(own).not.toContain(capsule.instanceId);
    }
    await client.stop({ nonce: 'a-nonce-of-the-host', graceMs: 500 });
    expect(groupsOf(capsule.instanceId)).toEqual([]);
  });

  test('has a directory of its own, whatever its id', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    await client.startSession(plan('read x', { session_id: '../../escape' }));
    expect(groupsOf(capsule.instanceId)).toHaveLength(1);
    expect(existsSync(join(memory?.own ?? '', '..', 'escape'))).toBe(false);
  });

  test('is cleaned away by the next capsule when its own was killed, wherever it is', async () => {
    capsule = await startCapsule();
    const elsewhere = join(memory?.own ?? '', `elsewhere-${capsule.instanceId}`);
    const stale = [memory?.own ?? '', elsewhere].map((parent) =>
      join(parent, `jackin-${capsule.instanceId}-gone`),
    );
    const foreign = join(memory?.own ?? '', `jackin-${capsule.instanceId}x-other`);
    mkdirSync(elsewhere);
    for (const group of [...stale, foreign]) mkdirSync(group);
    try {
      capsule.child.kill('SIGKILL');
      await capsule.exited;
      capsule = await startCapsule({ reuse: capsule });
      expect([...stale, foreign].map((group) => existsSync(group))).toEqual([false, false, true]);
    } finally {
      for (const group of [...stale, foreign, elsewhere]) if (existsSync(group)) rmdirSync(group);
    }
  });

  test('stays while a process is in it', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    await client.startSession(plan('read x'));
    expect(removeStaleCgroups(capsule.instanceId)).toEqual([]);
    expect(groupsOf(capsule.instanceId)).toHaveLength(1);
  });
});
