import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acquireLock } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execute } from '../../src/execute/executor.ts';
import { createObserveOne, observe } from '../../src/observe/observe.ts';
import { launchPlan, mustObserve } from '../execute/support/decisions.ts';
import { newSubject, planOf, type Subject } from '../execute/support/plans.ts';
import { createScratch, killInstance, type Scratch } from '../execute/support/scratch.ts';

const LOCKER = fileURLToPath(new URL('./hold-lock.ts', import.meta.url));

let scratch: Scratch;
let subject: Subject;

beforeEach(async () => {
  scratch = await createScratch();
  subject = newSubject(scratch.workdir);
});
afterEach(() => scratch.dispose());

const createOnly = (one: Subject) =>
  execute(planOf(one, 'launch', [{ op: 'create_instance', manifest: one.manifest }]), scratch.ports());

describe('observing a running instance', () => {
  it('asks the capsule itself and compares the run', async () => {
    await execute(launchPlan(subject), scratch.ports());
    expect(await mustObserve(scratch, subject)).toMatchObject({
      instance_id: subject.instanceId,
      lock: { state: 'free' },
      engine: { state: 'reachable', endpoint: 'standalone' },
      engine_matches: 'yes',
      engine_run: 'same',
      boot: 'same',
      observation: { container: { state: 'running' }, leftover_pids: [] },
      capsule: {
        state: 'answers',
        clients: 0,
        sessions: [{ session_id: subject.session.session_id, agent: 'shell', alive: true }],
      },
      state_files: { exit_record: { state: 'absent' } },
      data_dir: 'yes',
      socket_dir: 'yes',
      isolated: [],
      image_heir: null,
      clean_exit_codes: 'any',
    });
  });

  it('does not take another process with its own key for the capsule', async () => {
    await execute(launchPlan(subject), scratch.ports());
    const { agentConfig } = scratch.paths.instance(subject.base);
    await rm(agentConfig);
    expect((await mustObserve(scratch, subject)).capsule).toMatchObject({
      state: 'unknown',
      reason: expect.stringContaining(agentConfig),
    });
  });

  it('notices that the boot is another one than at the start', async () => {
    await execute(launchPlan(subject), scratch.ports());
    await killInstance(subject.instanceId);
    await scratch.store.update(subject.base, (manifest) => {
      const standalone = manifest.backend?.standalone;
      if (!standalone) throw new Error('not recorded');
      return { ...manifest, backend: { standalone: { ...standalone, boot_id: 'an-earlier-boot' } } };
    });
    expect(await mustObserve(scratch, subject)).toMatchObject({
      engine_run: 'changed',
      boot: 'changed',
      observation: { container: { state: 'stopped' } },
    });
  });

  it('says that it cannot start again when its project is gone', async () => {
    await execute(launchPlan(subject), scratch.ports());
    await killInstance(subject.instanceId);
    await rm(scratch.workdir, { recursive: true });
    expect((await mustObserve(scratch, subject)).observation.container).toMatchObject({
      state: 'stopped',
      startable: { ok: false, reason: expect.stringContaining(scratch.workdir) },
    });
  });
});

describe('observing what is on disk', () => {
  it('sees a lock of another process, and not our own', async () => {
    await createOnly(subject);
    const { lock: path } = scratch.paths.instance(subject.base);
    const lock = await acquireLock(path, { purpose: 'own', locksDb: scratch.paths.locksDb, waitMs: 0 });
    expect((await mustObserve(scratch, subject)).lock).toEqual({ state: 'free' });
    await lock.release();

    const args = ['--conditions=@jackin/source', LOCKER, path, scratch.paths.locksDb];
    const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    expect((await mustObserve(scratch, subject)).lock).toMatchObject({
      state: 'held',
      owner: { pid: holder.pid, purpose: 'test' },
    });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect((await mustObserve(scratch, subject)).lock).toEqual({ state: 'free' });
  });

  it('does not call a directory missing that something else stands in for', async () => {
    await createOnly(subject);
    const { sockets } = scratch.paths.instance(subject.base);
    expect((await mustObserve(scratch, subject)).socket_dir).toBe('no');
    await mkdir(scratch.paths.socketsDir, { recursive: true });
    await symlink(scratch.workdir, sockets);
    expect((await mustObserve(scratch, subject)).socket_dir).toBe('unknown');
  });

  it('takes a tree whose record is gone for an unknown mount, not for none', async () => {
    await createOnly(subject);
    const { dir } = scratch.paths.instance(subject.base);
    await mkdir(join(dir, 'git', 'overrides', 'w'), { recursive: true });
    await mkdir(join(dir, 'git', 'worktree'));
    expect((await mustObserve(scratch, subject)).isolated).toEqual([]);
    await mkdir(join(dir, 'git', 'worktree', 'repo'));
    expect((await mustObserve(scratch, subject)).isolated).toMatchObject([
      { kind: 'worktree', verdict: 'unknown', path: join(dir, 'git', 'worktree') },
    ]);
  });

  it('calls every isolated mount unknown that it does not assess, also when their record cannot be read', async () => {
    await createOnly(subject);
    const { isolation } = scratch.paths.instance(subject.base);
    const record = {
      workspace: 'w',
      mount_dst: '/w',
      original_src: '/src',
      isolation: 'clone',
      worktree_path: '/tree',
      scratch_branch: 'b',
      base_commit: 'c',
      selector_key: 'k',
      container_name: subject.base,
      cleanup_status: 'active',
    };
    await writeFile(isolation, JSON.stringify({ version: 1, records: [record] }));
    expect((await mustObserve(scratch, subject)).isolated).toMatchObject([
      { mount_dst: '/w', kind: 'clone', path: '/tree', verdict: 'unknown', reason: expect.any(String) },
    ]);
    const { dir } = scratch.paths.instance(subject.base);
    const recorded = join(dir, 'git', 'worktree', 'proj', 'one');
    for (const tree of [
      recorded,
      join(dir, 'git', 'worktree', 'proj', 'two'),
      join(dir, 'git', 'clone', 'x'),
    ]) {
      await mkdir(tree, { recursive: true });
    }
    const known = { ...record, isolation: 'worktree', worktree_path: recorded };
    await writeFile(isolation, JSON.stringify({ version: 1, records: [known] }));
    expect((await mustObserve(scratch, subject)).isolated).toMatchObject([
      { mount_dst: '/w', path: recorded },
      { mount_dst: 'git/worktree/proj/two', kind: 'worktree', verdict: 'unknown' },
      { mount_dst: 'git/clone/x', kind: 'clone', verdict: 'unknown', path: join(dir, 'git', 'clone', 'x') },
    ]);
    await writeFile(isolation, '{"version":1,"reco');
    expect((await mustObserve(scratch, subject)).isolated).toMatchObject([
      { verdict: 'unknown', path: isolation },
    ]);
  });

  it('reads what the capsule left as untrusted input', async () => {
    await createOnly(subject);
    const { state } = scratch.paths.instance(subject.base);
    await writeFile(join(state, 'exit.json'), '{"version":1,');
    await symlink('/etc/passwd', join(state, 'heartbeat.json'));
    expect((await mustObserve(scratch, subject)).state_files).toMatchObject({
      exit_record: { state: 'unreadable' },
      heartbeat: { state: 'unreadable' },
    });
  });
});

describe('observing several instances', () => {
  it('asks each backend once, and only for the instances that live on it', async () => {
    const subjects = [subject, newSubject(scratch.workdir), newSubject(scratch.workdir)];
    for (const one of subjects) await createOnly(one);
    const asked: string[][] = [];
    const counting = {
      ...scratch.backend,
      observe: (...[refs, signal]: Parameters<typeof scratch.backend.observe>) => {
        asked.push(refs.map((ref) => ref.container_base));
        return scratch.backend.observe(refs, signal);
      },
    };
    const backends = new Map([['standalone' as const, counting]]);
    const { facts, engines } = await observe({ ...scratch.observeDeps, backends });
    expect(asked.map((bases) => bases.sort())).toEqual([subjects.map(({ base }) => base).sort()]);
    expect(facts).toHaveLength(3);
    expect(engines).toMatchObject([{ state: 'reachable' }]);
  });

  it('looks at one that is not on disk when a manifest stands in, and says null without one', async () => {
    const observeOne = createObserveOne(scratch.observeDeps);
    await expect(observeOne(subject.base)).resolves.toBeNull();
    await expect(observeOne(subject.base, subject.manifest)).resolves.toMatchObject({
      data_dir: 'no',
      observation: { container: { state: 'missing' } },
    });
  });

  it('justifies nothing about a record that cannot be read', async () => {
    await createOnly(subject);
    await writeFile(scratch.paths.instance(subject.base).manifest, '{');
    await chmod(scratch.paths.instance(subject.base).manifest, 0o600);
    await expect(createObserveOne(scratch.observeDeps)(subject.base)).rejects.toMatchObject({
      code: 'MANIFEST_CORRUPT',
    });
    const { facts, loaded } = await observe(scratch.observeDeps);
    expect(facts).toEqual([]);
    expect(loaded.corrupt).toMatchObject([{ container_base: subject.base }]);
  });
});
