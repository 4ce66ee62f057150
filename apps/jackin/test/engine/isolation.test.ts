import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { treeOf } from '../e2e/support/isolated.ts';
import { createRepository, gitDirectoryOf, type Repository } from '../e2e/support/repository.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';

jest.setTimeout(240_000);

const IDENTITY = 'git config --global user.name agent; git config --global user.email agent@example.test;';
/** An agent that does its work, and is there until it is stopped. */
const agent = (work: string) => [
  'sh',
  '-c',
  `${IDENTITY} ${work} trap 'exit 0' TERM HUP; while :; do sleep 1; done`,
];
const WAITING = agent('');
const COMMITTING = agent(
  'test -e note || { echo one > one && git add one && git commit -qm one && echo more > note; };',
);

await describeOnEngine('harmless', 'a worktree or clone in a container', (engine) => {
  let sandbox: EngineSandbox;
  let repository: Repository;
  beforeAll(() => {});
  beforeEach(() => {
    sandbox = createEngineSandbox(engine());
    repository = createRepository(join(sandbox.root, 'app'), join(sandbox.root, 'remote.git'));
  });
  afterEach(() => sandbox.dispose());
  afterAll(() => {});

  async function load(
    kind: 'worktree' | 'clone',
    extra: string[] = [],
    command = WAITING,
  ): Promise<Instance> {
    const { path, remote } = repository;
    const args = [
      'load',
      'shell',
      path,
      '--agent',
      'shell',
      '--new',
      '--detach',
      '--json',
      '--backend',
      'docker',
    ];
    // The remote is reached where its address says it is.
    const mounts = ['--mount', `${remote}:${remote}`, '--mount-isolation', `${path}=${kind}`];
    const result = await sandbox.jackin([...args, ...mounts, ...extra, '--', ...command], {
      timeoutMs: 180_000,
    });
    if (result.code !== 0) throw new Error(`load failed: ${result.stdout}\n${result.stderr}`);
    const { instance_id: id, container_base: base } = result.json().data;
    return sandbox.adopt({ id, base });
  }

  /** In the tree, as the container's user. */
  const inside = async (instance: Instance, script: string) =>
    (await sandbox.exec(instance, 'sh', '-c', `cd ${repository.path} && ${script}`)).trim();

  test('git works in a worktree from both sides at once: commit, branch, rebase, stash, push', async () => {
    const instance = await load('worktree');
    const { path } = await treeOf(sandbox, instance);
    expect(await inside(instance, 'git status --porcelain --branch')).toContain(
      `jackin/scratch/${instance.base}`,
    );
    await inside(instance, 'echo one > one && git add one && git commit -qm one');
    await inside(instance, 'git switch -qc feature && echo two > two && git add two && git commit -qm two');
    await inside(
      instance,
      `git switch -q jackin/scratch/${instance.base} && echo three > three && git add three`,
    );
    await inside(instance, 'git commit -qm three && git rebase -q feature && git stash list');
    await inside(instance, 'echo dirt >> a && git stash -q && git stash pop -q && git checkout -q a');
    await inside(instance, 'git push -q origin HEAD:refs/heads/done && git fetch -q origin');
    expect(repository.git(['log', '--format=%s', `jackin/scratch/${instance.base}`]).split('\n')).toEqual([
      'three',
      'two',
      'one',
      'first',
    ]);
    expect(repository.git(['status', '--porcelain'], path)).toBe('');
    expect(repository.git(['worktree', 'list', '--porcelain'])).toContain(`locked jackin ${instance.base}`);
    expect(await treeOf(sandbox, instance)).toMatchObject({ verdict: 'clean' });
  });

  test('what an agent could plant in the repository is not writable for it', async () => {
    const other = join(sandbox.root, 'operators-own');
    repository.git(['worktree', 'add', '-q', '-b', 'own', other]);
    const before = gitDirectoryOf(join(repository.path, '.git'), /^(objects|logs|refs)\//);
    const instance = await load('worktree');
    // What a gc packs, what was made to be protected, and its own registration.
    const own = new RegExp(
      `^(objects|logs|refs)/|^(packed-refs|modules|remotes)$|^worktrees/${instance.base}(/|$)`,
    );
    for (const plant of [
      'git config core.fsmonitor /bin/true',
      'echo x > "$(git rev-parse --git-common-dir)/hooks/post-commit"',
      'echo "* filter=x" > "$(git rev-parse --git-common-dir)/info/attributes"',
      'rm -rf "$(git rev-parse --git-common-dir)/worktrees/operators-own"',
      'echo elsewhere > "$(git rev-parse --git-dir)/gitdir"',
      'rm "$(git rev-parse --git-dir)/locked"',
    ]) {
      await expect(inside(instance, plant)).rejects.toThrow(/Read-only|busy|read-only|could not lock/i);
    }
    await inside(instance, 'git worktree prune --expire=now || true; git gc -q --prune=now || true');
    expect(gitDirectoryOf(join(repository.path, '.git'), own)).toEqual(before);
    expect(repository.git(['status', '--porcelain'], other)).toBe('');
    repository.git(['gc', '--prune=now', '-q']);
    repository.git(['worktree', 'prune', '--expire=now']);
    expect(await inside(instance, 'git status --porcelain && git --no-pager log -1 --format=%s')).toBe(
      'first',
    );
    expect(repository.git(['fsck', '--connectivity-only'])).not.toMatch(/missing|broken/);
  });

  test('a session in a worktree is kept with its work, comes back in a new container, and is gone after a purge', async () => {
    const host = () => gitDirectoryOf(join(repository.path, '.git'), /^(objects|logs)\//);
    const before = host();
    const instance = await load('worktree', [], COMMITTING);
    await inside(instance, 'until test -e note; do sleep 0.1; done');
    const stopped = await sandbox.jackin(['stop', instance.id, '--json']);
    expect([stopped.code, stopped.json().data]).toMatchObject([
      4,
      { outcome: 'kept', status: 'preserved_dirty', isolated: [{ evidence: { files: [{ path: 'note' }] } }] },
    ]);
    const resumed = await sandbox.jackin(['resume', instance.id, '--detach', '--json'], {
      timeoutMs: 120_000,
    });
    expect(resumed.json().data).toMatchObject({ tier: 2, status: 'running' });
    expect(resumed.stderr).toContain('?? note');
    expect(await inside(instance, 'git status --porcelain && git --no-pager log -1 --format=%s')).toBe(
      '?? note\none',
    );
    const purged = await sandbox.jackin(['purge', instance.id, '--force', '--json']);
    expect([purged.code, purged.json().data.outcome]).toEqual([0, 'cleaned']);
    expect(await sandbox.traces(instance)).toEqual([]);
    expect(await sandbox.onEngine(instance)).toEqual([]);
    expect(host()).toEqual(before);
  });

  test('a clone stands alone, and its pushed work is cleaned up without a question', async () => {
    const before = gitDirectoryOf(join(repository.path, '.git'));
    const instance = await load('clone');
    await inside(
      instance,
      'git remote get-url origin && echo one > one && git add one && git commit -qm one',
    );
    await inside(instance, 'git config core.fsmonitor "touch /tmp/planted"');
    expect(await treeOf(sandbox, instance)).toMatchObject({ kind: 'clone', verdict: 'unpushed' });
    await inside(instance, 'git push -q -u origin HEAD');
    const stopped = await sandbox.jackin(['stop', instance.id, '--json']);
    expect([stopped.code, stopped.json().data.outcome]).toEqual([0, 'cleaned']);
    expect(existsSync('/tmp/planted')).toBe(false);
    expect(gitDirectoryOf(join(repository.path, '.git'))).toEqual(before);
    expect(await sandbox.onEngine(instance)).toEqual([]);
  });

  test('O29: a tree of the container user is assessed and removed by root, and its files belong to that user', async () => {
    for (const path of [repository.path, repository.remote]) execFileSync('chown', ['-R', '1000:1000', path]);
    chmodSync(sandbox.root, 0o755);
    for (const kind of ['worktree', 'clone'] as const) {
      const instance = await load(kind);
      expect(await inside(instance, 'id -u')).toBe('1000');
      await inside(
        instance,
        'echo one > one && git add one && git commit -qm one && git push -q origin HEAD:refs/heads/x',
      );
      await inside(instance, 'echo two > two');
      const tree = await treeOf(sandbox, instance);
      expect([tree.verdict, tree.evidence.files.map(({ path }: any) => path)]).toEqual(['dirty', ['two']]);
      await inside(instance, 'rm two');
      const stopped = await sandbox.jackin(['stop', instance.id, '--json']);
      expect([kind, stopped.code, stopped.json().data?.outcome]).toEqual([kind, 0, 'cleaned']);
      expect(await sandbox.traces(instance)).toEqual([]);
      await sandbox.jackin(['status']);
      execFileSync('git', [
        '--git-dir',
        repository.remote,
        '-c',
        `safe.directory=${repository.remote}`,
        'update-ref',
        '-d',
        'refs/heads/x',
      ]);
    }
    const roots = execFileSync('find', [join(repository.path, '.git'), '-user', 'root'], {
      encoding: 'utf8',
    });
    expect(roots).toBe('');
  });

  test('O26: a source that is a linked worktree, and one with a submodule, work inside', async () => {
    const library = createRepository(join(sandbox.root, 'lib'), join(sandbox.root, 'lib.git'));
    repository.git([
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      library.remote,
      'lib',
    ]);
    repository.git(['commit', '-qm', 'with a library']);
    repository.git(['push', '-q', 'origin', 'main']);
    const linked = join(sandbox.root, 'linked');
    repository.git(['worktree', 'add', '-q', '-b', 'topic', linked]);
    repository.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init'], linked);
    const source = repository;
    repository = { ...source, path: linked };
    const instance = await load('worktree', ['--mount', `${library.remote}:${library.remote}`]);
    expect(await inside(instance, 'git status --porcelain && git submodule status')).toMatch(
      /^[0-9a-f]{40} lib/,
    );
    await inside(instance, 'cd lib && echo change > c && git add c && git commit -qm inner');
    const tree = await treeOf(sandbox, instance);
    expect(tree).toMatchObject({
      verdict: 'dirty',
      evidence: { nested: [{ path: 'lib', verdict: 'unpushed' }] },
    });
    repository = source;
  });

  test('an image without git is refused by name before its agent starts', async () => {
    const role = join(sandbox.root, 'no-git');
    mkdirSync(role);
    writeFileSync(join(role, 'Dockerfile'), 'FROM debian:bookworm-slim\nRUN rm -f /usr/bin/git\n');
    const shell = new URL('../../../../packages/runtime/roles/shell/jackin.role.toml', import.meta.url);
    writeFileSync(join(role, 'jackin.role.toml'), readFileSync(shell));
    sandbox.writeConfig(`[roles.no-git]\npath = "${role}"\n`);
    const { path } = repository;
    const args = [
      'load',
      'no-git',
      path,
      '--agent',
      'shell',
      '--new',
      '--detach',
      '--json',
      '--backend',
      'docker',
    ];
    const isolation = ['--mount-isolation', `${path}=clone`];
    const refused = await sandbox.jackin([...args, ...isolation, '--', 'true'], { timeoutMs: 180_000 });
    const { code, message, details } = refused.json().error;
    expect([refused.code, code, message]).toEqual([
      1,
      'GIT_NOT_IN_IMAGE',
      expect.stringContaining('has no git'),
    ]);
    sandbox.adopt({ id: details.instance_id, base: details.container_base });
  });
});
