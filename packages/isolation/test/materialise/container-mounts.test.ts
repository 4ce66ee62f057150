import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { IsolationRecord } from '@jackin/instance';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  containerMounts,
  materialise,
  prepareContainerView,
  refuseLinkedMounts,
  removeMaterialised,
  treePathOf,
} from '../../src/index.ts';
import { git, listing, makeWorld, planned, type World } from './support.ts';

const record = {
  workspace: 'app',
  mount_dst: '/w/app',
  original_src: '/home/me/app',
  isolation: 'worktree' as const,
  worktree_path: '/data/jk-1/git/worktree/repo/w/app/jk-1',
  scratch_branch: 'jackin/scratch/jk-1',
  base_commit: 'b',
  selector_key: 'r',
  container_name: 'jk-1',
  cleanup_status: 'active' as const,
  git_common_dir: '/home/me/app/.git',
  registration: 'jk-11',
};
const clone = {
  ...record,
  mount_dst: '/w/lib',
  isolation: 'clone' as const,
  worktree_path: '/data/jk-1/git/clone/repo/w/lib/jk-1',
};
const mounts = [
  { src: '/home/me/lib', dst: '/w/lib', isolation: 'clone' as const, readonly: false },
  { src: '/home/me/cache', dst: '/w/app/cache', isolation: 'shared' as const, readonly: true },
  { src: '/home/me/app', dst: '/w/app', isolation: 'worktree' as const, readonly: false },
];

describe('what a container gets', () => {
  const view = containerMounts([record, clone], mounts, { overrides: '/data/jk-1/git/overrides' });
  const at = (target: string) => view.mounts.find((mount) => mount.target === target);
  const common = '/jackin/host/w/app/.git';

  test('is the trees, the shared mounts and the git directory of the worktree', () => {
    expect(at('/w/app')).toEqual({ source: record.worktree_path, target: '/w/app', readonly: false });
    expect(at('/w/lib')).toEqual({ source: clone.worktree_path, target: '/w/lib', readonly: false });
    expect(at('/w/app/cache')).toEqual({ source: '/home/me/cache', target: '/w/app/cache', readonly: true });
    expect(at(common)).toEqual({ source: '/home/me/app/.git', target: common, readonly: false });
  });

  test('cannot write configuration, hooks, submodules and other worktrees, but its own registration', () => {
    for (const name of ['config', 'hooks', 'info', 'modules', 'worktrees']) {
      expect(at(`${common}/${name}`)).toEqual({
        source: `/home/me/app/.git/${name}`,
        target: `${common}/${name}`,
        readonly: true,
      });
    }
    expect(at(`${common}/worktrees/jk-11`)?.readonly).toBe(false);
    for (const name of ['gitdir', 'commondir', 'locked']) {
      expect(at(`${common}/worktrees/jk-11/${name}`)?.readonly).toBe(true);
    }
  });

  test('has pointer files with its own paths, read-only', () => {
    expect(view.files.map(({ content }) => content)).toEqual([
      `gitdir: ${common}/worktrees/jk-11\n`,
      '/w/app/.git\n',
    ]);
    expect(at('/w/app/.git')).toMatchObject({ source: view.files[0]?.path, readonly: true });
    expect(at(`${common}/worktrees/jk-11/gitdir`)).toMatchObject({ source: view.files[1]?.path });
  });

  test('is mounted parents first', () => {
    const targets = view.mounts.map(({ target }) => target);
    for (const [index, target] of targets.entries()) {
      expect(targets.slice(0, index).some((earlier) => earlier.startsWith(`${target}/`))).toBe(false);
    }
    expect(new Set(targets).size).toBe(targets.length);
  });

  test('trusts exactly these places and never packs or prunes what it shares', () => {
    const { GIT_CONFIG_COUNT: count, ...rest } = view.env;
    const settings = Array.from({ length: Number(count) }, (_, n) => [
      rest[`GIT_CONFIG_KEY_${n}`],
      rest[`GIT_CONFIG_VALUE_${n}`],
    ]);
    expect(settings).toEqual([
      ['safe.directory', '/w/lib'],
      ['safe.directory', '/w/app'],
      ['safe.directory', common],
      ['gc.worktreePruneExpire', 'never'],
      ['gc.auto', '0'],
      ['maintenance.auto', 'false'],
    ]);
    expect(view.views).toContainEqual({ inside: common, host: '/home/me/app/.git' });
  });

  test('without isolated mounts is the shared ones and nothing else', () => {
    const shared = mounts.filter(({ isolation }) => isolation === 'shared');
    expect(containerMounts([], shared, { overrides: '/o' })).toEqual({
      mounts: [{ source: '/home/me/cache', target: '/w/app/cache', readonly: true }],
      files: [],
      env: {},
      views: [],
    });
  });

  test('never is the source of an isolated mount whose tree is not recorded', () => {
    const { mounts: made } = containerMounts([], mounts, { overrides: '/o' });
    expect(made.map(({ source }) => source)).toEqual(['/home/me/cache']);
  });
});

describe('places', () => {
  test('a tree lies by kind, destination and container', () => {
    expect(treePathOf('/data/jk-1', 'worktree', '/w/app/', 'jk-1')).toBe(record.worktree_path);
    expect(treePathOf('/data/jk-1', 'clone', '/../x', 'jk-1')).toBe('/data/jk-1/git/clone/repo/x/jk-1');
  });
});

describe('before a container gets a repository', () => {
  const PLACED = ['hooks', 'info', 'modules', 'branches', 'remotes'];
  const wanted = { dst: '/workspace/app', isolation: 'worktree' as const, readonly: false };
  let world: World;
  beforeEach(() => {
    world = makeWorld();
  });
  afterEach(() => world.clean());

  test('everything it may not write is there, and what was placed goes with the tree', async () => {
    const gitDir = join(world.repo, '.git');
    for (const name of ['hooks', 'info', 'branches'])
      rmSync(join(gitDir, name), { recursive: true, force: true });
    git(world.repo, 'config', 'extensions.worktreeConfig', 'true');
    git(world.repo, 'config', 'core.hooksPath', '.git/mine');
    const before = listing(gitDir);
    const made = await materialise(await planned(world, { src: world.repo }));
    git(world.repo, 'worktree', 'unlock', made.record.worktree_path);
    const first = await prepareContainerView(made.record);
    const prepared = await prepareContainerView(first);
    expect(prepared).toEqual(first);
    expect(prepared.protected_paths).toEqual(['config', ...PLACED, 'config.worktree']);
    expect(prepared.placed_paths).toEqual([...PLACED, 'config.worktree']);
    for (const { source } of containerMounts(
      [prepared],
      [{ src: world.repo, dst: '/workspace/app', isolation: 'worktree', readonly: false }],
      { overrides: join(world.dir, 'overrides') },
    ).mounts) {
      expect(source.includes('overrides') || existsSync(source)).toBe(true);
    }
    expect(git(world.repo, 'status', '--porcelain')).toBe('');
    await removeMaterialised(prepared);
    expect(listing(gitDir)).toEqual(before);
  });

  test('what another one needs as well stays, and goes with the last of them', async () => {
    const gitDir = join(world.repo, '.git');
    rmSync(join(gitDir, 'hooks'), { recursive: true, force: true });
    const first = await prepareContainerView(
      (await materialise(await planned(world, { src: world.repo }))).record,
    );
    const second = await prepareContainerView(
      (await materialise(await planned(world, { src: world.repo }, { container: 'jk-b' }))).record,
    );
    await removeMaterialised(first);
    expect(readdirSync(gitDir)).toContain('hooks');
    await removeMaterialised(second);
    expect(readdirSync(gitDir)).not.toContain('hooks');
    expect(readdirSync(gitDir)).not.toContain('modules');
  });

  test("a directory of hooks of its own is not the container's to write", async () => {
    git(world.repo, 'config', 'core.hooksPath', '.git/mine');
    mkdirSync(join(world.repo, '.git/mine'));
    const { record: made } = await materialise(await planned(world, { src: world.repo }));
    expect((await prepareContainerView(made)).protected_paths).toContain('mine');
  });

  test('its own settings are read-only where git reads them', async () => {
    git(world.repo, 'config', 'extensions.worktreeConfig', 'true');
    const { record: made } = await materialise(await planned(world, { src: world.repo }));
    const own = join(world.repo, '.git/worktrees', made.registration ?? '', 'config.worktree');
    const of = (one: IsolationRecord) =>
      containerMounts([one], [{ ...wanted, src: world.repo }], { overrides: '/o' }).mounts.find(
        ({ source }) => source === own,
      );
    expect(of(made)).toBeUndefined();
    const prepared = await prepareContainerView(made);
    expect(readFileSync(own, 'utf8')).toBe('');
    expect(of(prepared)).toMatchObject({ readonly: true });
  });

  test.each(['config', 'hooks', 'info', 'modules', 'branches', 'worktrees', 'worktrees/jk-a/locked'])(
    'a %s that has become a link is not mounted',
    async (name) => {
      mkdirSync(join(world.repo, '.git/branches'), { recursive: true });
      const { record: made } = await materialise(await planned(world, { src: world.repo }));
      const prepared = await prepareContainerView(made);
      const { mounts: asked } = containerMounts([prepared], [{ ...wanted, src: world.repo }], {
        overrides: '/o',
      });
      await expect(refuseLinkedMounts([prepared], asked)).resolves.toBeUndefined();
      const path = join(world.repo, '.git', name.replace('jk-a', prepared.registration ?? ''));
      renameSync(path, join(world.dir, 'moved'));
      symlinkSync(join(world.dir, 'moved'), path);
      await expect(refuseLinkedMounts([prepared], asked)).rejects.toMatchObject({ code: 'SOURCE_LINKED' });
      // Also one that leads nowhere this process can see.
      rmSync(path);
      symlinkSync(join(world.dir, 'missing'), path);
      await expect(refuseLinkedMounts([prepared], asked)).rejects.toMatchObject({ code: 'SOURCE_LINKED' });
    },
  );

  test('a clone needs nothing of it', async () => {
    const { record: made } = await materialise(await planned(world, { src: world.repo, isolation: 'clone' }));
    expect(await prepareContainerView(made)).toBe(made);
  });
});
