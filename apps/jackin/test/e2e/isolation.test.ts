import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ended } from './support/evidence.ts';
import { isolatedSession, type Kind, startIsolated, treeOf } from './support/isolated.ts';
import { createRepository, gitDirectoryOf, type Repository } from './support/repository.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(120_000);

let sandbox: Sandbox;
let repository: Repository;
beforeEach(() => {
  sandbox = createSandbox();
  repository = createRepository(join(sandbox.root, 'app'), join(sandbox.root, 'remote.git'));
});
afterEach(() => sandbox.dispose());

const KINDS: Kind[] = ['worktree', 'clone'];
const session = (kind: Kind, script: string, extra: string[] = []) =>
  isolatedSession(sandbox, repository, kind, script, extra);
const stop = async (id: string, ...flags: string[]) => {
  const { code, json, stdout } = await sandbox.jackin(['stop', id, '--json', ...flags]);
  return { code, data: json().data, error: json().error, stdout };
};
const COMMIT = 'echo more >> a; git commit -q -a -m more';

describe.each(KINDS)('a session in a %s', (kind) => {
  test('works in a tree of its own, and nothing of it reaches the directory it was made of', async () => {
    const instance = await session(kind, 'pwd > where; echo changed > a; git status --short > seen');
    const tree = await treeOf(sandbox, instance);
    expect(tree).toMatchObject({ kind, verdict: 'dirty', mount_dst: repository.path });
    expect(tree.path.startsWith(join(sandbox.state, 'data', instance.base, 'git', kind))).toBe(true);
    expect(readdirSync(tree.path)).toEqual(expect.arrayContaining(['a', 'seen', 'src', 'where']));
    expect(repository.git(['status', '--short'])).toBe('');
    const letters = tree.evidence.files.map((file: any) => `${file.status} ${file.path}`);
    expect(letters).toEqual(expect.arrayContaining([' M a', '?? seen', '?? where']));
  });

  test('O21: a clean exit code is no clean tree: without a terminal it is kept and its files are named', async () => {
    const { id, base } = await session(kind, 'echo changed > a');
    const { code, data } = await stop(id);
    expect(code).toBe(4);
    expect(data).toMatchObject({ outcome: 'kept', status: 'preserved_dirty', kept_without_choice: true });
    expect(data.isolated[0].evidence.files).toMatchObject([{ status: ' M', path: 'a' }]);
    expect(data.next_commands).toEqual([`jackin resume ${id}`, `jackin purge ${id} --force`]);
    expect(existsSync(join(data.isolated[0].path, 'a'))).toBe(true);
    expect(sandbox.manifest(base).keep.intent).toBe('could_not_ask');
    const text = await sandbox.jackin(['status', id, '--detail']);
    expect(text.stdout).toContain(' M a');
  });

  test.each([
    ['a pipe where git looks for names', 'rm .gitignore; mkfifo .gitignore', 'not a regular file'],
    ['more directories than are looked into', 'mkdir -p $(seq -s / 1 110)', 'deeper than'],
  ])('with %s is unknown, and every command says so', async (_what, script, reason) => {
    const { id } = await session(kind, script);
    expect(await treeOf(sandbox, { id, base: '' })).toMatchObject({
      verdict: 'unknown',
      reason: expect.stringContaining(reason),
    });
    expect(await stop(id)).toMatchObject({ code: 4, data: { outcome: 'kept', status: 'preserved_dirty' } });
    const purged = await sandbox.jackin(['purge', id, '--force', '--json']);
    expect([purged.code, purged.json().error.code]).toEqual([3, 'WORK_UNKNOWN']);
  });

  test('whose agent works in another worktree of the repository, in its home, is kept for it', async () => {
    const { id } = await session(
      kind,
      'git worktree add -q --detach "$HOME/wt"; cd "$HOME/wt"; echo u > u; git add u; git commit -qm only; echo v > v',
    );
    const { code, data } = await stop(id);
    expect([code, data.outcome]).toEqual([4, 'kept']);
    expect(data.isolated[0]).toMatchObject({
      verdict: 'dirty',
      reason: expect.stringMatching(/dirty outside: .*\/home\/wt/),
      evidence: { nested: [{ stray: true, evidence: { files: [{ path: 'v' }], head: { ahead: 1 } } }] },
    });
    const purged = await sandbox.jackin(['purge', id, '--force']);
    expect(purged.stdout).toMatch(/went too .*\/home\/wt/);
    expect(repository.git(['worktree', 'list']).split('\n')).toHaveLength(1);
  });

  test('whose agent left another worktree without work in its home is cleaned up with it', async () => {
    const instance = await session(kind, 'git worktree add -q --detach "$HOME/wt"');
    const { code, data } = await stop(instance.id);
    expect([code, data.outcome]).toEqual([0, 'cleaned']);
    expect(await sandbox.traces(instance)).toEqual([]);
    expect(repository.git(['worktree', 'list']).split('\n')).toHaveLength(1);
  });

  test('is kept as unpushed while its commit is nowhere else, and cleaned up when it is pushed', async () => {
    const kept = await session(kind, COMMIT);
    expect(await stop(kept.id)).toMatchObject({ code: 4, data: { status: 'preserved_unpushed' } });
    const tree = await treeOf(sandbox, kept);
    expect(tree.evidence.branches).toMatchObject([{ ahead: 1 }]);

    const pushed = await session(kind, `${COMMIT}; git push -q origin HEAD:refs/heads/done`);
    const { code, data } = await stop(pushed.id);
    expect([code, data.outcome, data.isolated[0].verdict]).toEqual([0, 'cleaned', 'clean']);
    expect(await sandbox.traces(pushed)).toEqual([]);
    expect(existsSync(tree.path)).toBe(true);
  });

  test('leaves the repository as it was when its clean tree is cleaned up', async () => {
    const without = kind === 'clone' ? /^$/ : /^(objects|logs)\//;
    const before = gitDirectoryOf(join(repository.path, '.git'), without);
    const { id } = await session(kind, 'git status --short');
    const { code, data } = await stop(id);
    expect([code, data.outcome]).toEqual([0, 'cleaned']);
    expect(gitDirectoryOf(join(repository.path, '.git'), without)).toEqual(before);
    expect(repository.git(['fsck', '--strict'])).toBe('');
  });

  test('O02: an ignored file gates nothing and is named before and after', async () => {
    const { id } = await session(kind, 'echo SECRET=1 > .env');
    const shown = await sandbox.jackin(['status', id, '--detail']);
    expect(shown.stdout).toContain('.env');
    const { code, stdout } = await sandbox.jackin(['stop', id]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/went too .*\.env/);
  });

  test('O01 and O20: a resume touches no file of the tree and counts from where the session began', async () => {
    const { id, base } = await session(kind, `${COMMIT}; echo dirty > b; sleep 0`);
    const { path } = await treeOf(sandbox, { id, base });
    await stop(id, '--keep');
    const resumed = await sandbox.jackin(['resume', id, '--detach', '--json']);
    expect(resumed.json().data).toMatchObject({ tier: 1 });
    expect(resumed.stderr).toContain('?? b');
    // The script runs again: one more commit on the first one.
    await sandbox.jackin(['stop', id, '--keep']);
    const tree = await treeOf(sandbox, { id, base });
    expect(tree.path).toBe(path);
    expect(tree.evidence.branches[0].ahead).toBe(2);
    expect(tree.evidence.files).toMatchObject([{ path: 'b' }]);
  });

  test('purge shows what would be lost, and takes it only with --force', async () => {
    const instance = await session(kind, 'echo changed > a; echo new > n');
    const refused = await sandbox.jackin(['purge', instance.id, '--yes', '--json']);
    expect(refused.code).toBe(3);
    const { code, message, details } = refused.json().error;
    expect([code, message]).toEqual(['WORK_AT_RISK', expect.stringContaining('2 files')]);
    expect(details.mounts[0].evidence.files).toHaveLength(2);
    const purged = await sandbox.jackin(['purge', instance.id, '--force']);
    expect(purged.code).toBe(0);
    expect(purged.stdout).toMatch(/went too .* M a\n.*went too .*\?\? n\n/s);
    expect(await sandbox.traces(instance)).toEqual([]);
    expect(repository.git(['worktree', 'list']).split('\n')).toHaveLength(1);
    expect(repository.git(['branch', '--list', 'jackin/*'])).toBe('');
  });
});

test('a workspace that asks for another kind of tree than its session has resumes it by its name only', async () => {
  const workspace = (verb: string, kind: string, ...more: string[]) =>
    sandbox.jackin(['workspace', verb, 'app', ...more, '--mount-isolation', `${repository.path}=${kind}`]);
  await workspace('create', 'worktree', '--workdir', repository.path, '--mount', repository.path);
  const load = (...more: string[]) =>
    sandbox.jackin([
      'load',
      'shell',
      'app',
      '--agent',
      'shell',
      '--backend',
      'standalone',
      '--json',
      ...more,
    ]);
  const made = await load('--new', '--detach', '--', 'sh', '-c', 'echo changed > a');
  const { instance_id: id, container_base: base } = made.json().data;
  await ended({ id, base });
  await workspace('edit', 'clone');
  for (const more of ['--detach', '--dry-run']) {
    const refused = await load('--resume', more);
    const { code, message, hint } = refused.json().error;
    expect([refused.code, code]).toEqual([1, 'ISOLATION_DRIFT']);
    expect(message).toContain(`made as a worktree of "${repository.path}"; now a clone of`);
    expect(hint).toContain(`jackin resume ${base}`);
  }
  const resumed = await sandbox.jackin(['resume', base, '--detach', '--json']);
  expect(resumed.json().data).toMatchObject({ instance_id: id });
});

test('a dry run names the tree and its branch, and makes nothing', async () => {
  const args = ['load', 'shell', repository.path, '--agent', 'shell', '--new', '--dry-run', '--json'];
  const isolation = ['--backend', 'standalone', '--mount-isolation', `${repository.path}=worktree`];
  const { code, json } = await sandbox.jackin([...args, ...isolation]);
  expect(code).toBe(0);
  const made = json().data.plan.steps.find(({ op }: any) => op === 'materialise_trees');
  expect(made.creates).toEqual([expect.stringMatching(/^worktree .* on the branch jackin\/scratch\/jk-/)]);
  expect(repository.git(['branch', '--list', 'jackin/*'])).toBe('');
});

test('a source with uncommitted changes is refused where nobody can be asked, and used with --force', async () => {
  writeFileSync(join(repository.path, 'a'), 'work of the operator');
  const args = ['load', 'shell', repository.path, '--new', '--detach', '--json', '--backend', 'standalone'];
  const isolation = ['--mount-isolation', `${repository.path}=worktree`];
  const refused = await sandbox.jackin([...args, ...isolation, '--', 'true']);
  expect([refused.code, refused.json().error.code]).toEqual([3, 'SOURCE_DIRTY']);
  expect(repository.git(['branch', '--list', 'jackin/*'])).toBe('');
  const forced = await sandbox.jackin([...args, ...isolation, '--force', '--', 'true']);
  expect(forced.code).toBe(0);
  expect(forced.stderr).toContain('has one uncommitted change');
});

test('work that appears after it was agreed to stops the clean-up, and the session is kept', async () => {
  const instance = await session('worktree', 'echo changed > a');
  const { path } = await treeOf(sandbox, instance);
  const plan = await sandbox.jackin(['purge', instance.id, '--dry-run', '--json']);
  const steps = plan.json().data.plan.steps;
  const removal = steps.find(({ op }: any) => op === 'remove_isolated_trees');
  expect(removal.requires).toMatchObject([
    { fact: 'container' },
    { fact: 'isolated', fingerprints: { [repository.path]: expect.any(String) } },
  ]);
  writeFileSync(join(path, 'later'), 'new work');
  const again = await sandbox.jackin(['purge', instance.id, '--dry-run', '--json']);
  const next = again.json().data.plan.steps.find(({ op }: any) => op === 'remove_isolated_trees');
  expect(next.requires[1].fingerprints).not.toEqual(removal.requires[1].fingerprints);
});

test('two sessions and the operator on one repository do not disturb each other', async () => {
  const one = await startIsolated(
    sandbox,
    repository,
    'worktree',
    'echo one > f; git add f; git commit -q -m one',
  );
  const two = await startIsolated(
    sandbox,
    repository,
    'worktree',
    'echo two > f; git add f; git commit -q -m two',
  );
  writeFileSync(join(repository.path, 'mine'), 'of the operator');
  repository.git(['add', 'mine']);
  repository.git(['commit', '-q', '-m', 'mine']);
  await sandbox.jackin(['stop', one.id, '--keep']);
  await sandbox.jackin(['stop', two.id, '--keep']);
  repository.git(['gc', '--prune=now', '-q']);
  repository.git(['worktree', 'prune', '--expire=now']);
  const purged = await sandbox.jackin(['purge', one.id, '--force', '--json']);
  expect(purged.json().data.outcome).toBe('cleaned');
  const tree = await treeOf(sandbox, two);
  expect(tree).toMatchObject({ verdict: 'unpushed', divergence: { state: 'ahead', commits: 1 } });
  expect(repository.git(['log', '-1', '--format=%s', tree.evidence.branches[0].name])).toBe('two');
  expect(repository.git(['log', '-1', '--format=%s'])).toBe('mine');
  expect(repository.git(['fsck', '--connectivity-only'])).not.toMatch(/missing|broken/);
});
