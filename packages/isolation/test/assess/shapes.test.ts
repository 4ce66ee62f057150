import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AssessOptions, assess } from '../../src/index.ts';
import { commit, git, ground, QUIET, session, write } from './helpers.ts';

const look = (path: string, options: AssessOptions = {}) => assess(path, { env: QUIET, ...options });

describe('repositories of every shape', () => {
  test('a shallow clone is assessed as far as its history goes', async () => {
    using g = ground();
    commit(g.repo, 'second');
    git(g.repo, 'push', '-q');
    const shallow = join(g.dir, 'shallow');
    git(g.dir, 'clone', '-q', '--depth', '1', `file://${g.remote}`, shallow);
    expect(await look(shallow)).toMatchObject({ verdict: 'clean', kind: 'repository' });
    commit(shallow, 'work');
    expect(await look(shallow)).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ ahead: 1 }] },
    });
  });

  test('a repository with SHA-256 ids', async () => {
    using g = ground();
    const [remote, repo] = [join(g.dir, 'r256.git'), join(g.dir, 'w256')];
    git(g.dir, 'init', '-q', '--bare', '--object-format=sha256', remote);
    git(g.dir, 'init', '-q', '--object-format=sha256', repo);
    git(repo, 'remote', 'add', 'origin', remote);
    commit(repo, 'a');
    expect(await look(repo)).toMatchObject({ verdict: 'unpushed' });
    git(repo, 'push', '-q', 'origin', 'main');
    expect(await look(repo)).toMatchObject({ verdict: 'clean' });
    git(repo, 'update-index', '--assume-unchanged', 'a');
    expect(await look(repo)).toMatchObject({ verdict: 'clean' });
    appendFileSync(join(repo, 'a'), 'x');
    expect(await look(repo)).toMatchObject({
      verdict: 'dirty',
      evidence: { files: [{ path: 'a', hidden: 'assume_unchanged' }] },
    });
  });

  test('a bare repository by its refs, and a .git by its tree', async () => {
    using g = ground();
    expect(await look(g.remote)).toMatchObject({
      verdict: 'unpushed',
      evidence: { files: [] },
      path: g.remote,
    });
    write(g.repo, 'new', '');
    expect(await look(join(g.repo, '.git'))).toMatchObject({ verdict: 'dirty', path: g.repo });
  });

  test('a repository before its first commit', async () => {
    using g = ground();
    const unborn = join(g.dir, 'unborn');
    git(g.dir, 'init', '-q', unborn);
    expect(await look(unborn)).toMatchObject({
      verdict: 'clean',
      evidence: { head: { commit: null, branch: 'main' } },
    });
    write(unborn, 'a', '');
    expect(await look(unborn)).toMatchObject({ verdict: 'dirty' });
    git(unborn, 'add', 'a');
    expect(await look(unborn)).toMatchObject({
      verdict: 'dirty',
      evidence: { files: [{ status: 'A ', path: 'a' }] },
    });
  });

  test('a partial clone, without fetching what it lacks', async () => {
    using g = ground();
    git(g.remote, 'config', 'uploadpack.allowFilter', 'true');
    const partial = join(g.dir, 'partial');
    git(g.dir, 'clone', '-q', '--filter=blob:none', `file://${g.remote}`, partial);
    expect(await look(partial)).toMatchObject({ verdict: 'clean' });
    appendFileSync(join(partial, 'a'), 'x');
    expect(await look(partial)).toMatchObject({ verdict: 'dirty' });
  });

  test('a sparse checkout, cone and index included', async () => {
    using g = ground();
    commit(g.repo, 'in/one');
    commit(g.repo, 'out/deep/two');
    git(g.repo, 'push', '-q');
    git(g.repo, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'in');
    expect(existsSync(join(g.repo, 'out'))).toBe(false);
    expect(await look(g.repo)).toMatchObject({ verdict: 'clean' });
    write(g.repo, 'out/deep/two', 'other\n');
    expect(await look(g.repo)).toMatchObject({
      verdict: 'dirty',
      evidence: { files: [{ status: ' M', path: 'out/deep/two' }] },
    });
  });

  test('a split index', async () => {
    using g = ground();
    git(g.repo, 'config', 'core.splitIndex', 'true');
    git(g.repo, 'update-index', '--split-index');
    git(g.repo, 'update-index', '--assume-unchanged', 'a');
    expect(await look(g.repo)).toMatchObject({ verdict: 'clean' });
    appendFileSync(join(g.repo, 'a'), 'x');
    expect(await look(g.repo)).toMatchObject({ verdict: 'dirty', evidence: { files: [{ path: 'a' }] } });
  });

  test.each([2, 3, 4])('an index of version %s', async (version) => {
    using g = ground();
    git(g.repo, 'update-index', '--index-version', `${version}`);
    if (version === 3) {
      write(g.repo, 'wanted', '');
      git(g.repo, 'add', '-N', 'wanted');
    }
    git(g.repo, 'update-index', '--assume-unchanged', 'b');
    rmSync(join(g.repo, 'b'));
    const { evidence } = await look(g.repo);
    expect(evidence?.files).toContainEqual({
      status: ' D',
      path: 'b',
      path_is_lossy: false,
      hidden: 'assume_unchanged',
    });
    expect(evidence?.files).toHaveLength(version === 3 ? 2 : 1);
  });

  test('names that are no text, of files and of directories', async () => {
    using g = ground();
    const odd = Buffer.concat([Buffer.from(`${g.repo}/`), Buffer.from([0xff, 0x0a])]);
    writeFileSync(odd, 'x');
    git(g.repo, 'add', '.');
    git(g.repo, 'commit', '-qm', 'odd');
    git(g.repo, 'push', '-q');
    expect(await look(g.repo)).toMatchObject({ verdict: 'clean' });
    git(g.repo, 'ls-files', '-z');
    writeFileSync(odd, 'other');
    const changed = await look(g.repo);
    expect(changed.evidence?.files).toEqual([
      { status: ' M', path: '\ufffd\n', path_is_lossy: true, path_base64: '/wo=' },
    ]);
  });

  test('a linked worktree and a submodule by their paths alone', async () => {
    using s = await session();
    expect(await look(s.tree)).toMatchObject({ verdict: 'clean', kind: 'worktree' });
    git(s.repo, 'submodule', '--quiet', 'add', s.remote, 'sub');
    expect(await look(join(s.repo, 'sub'))).toMatchObject({ verdict: 'clean', kind: 'submodule' });
  });

  test('a worktree whose files have the names of a container', async () => {
    using s = await session();
    writeFileSync(join(s.tree, '.git'), 'gitdir: /jackin/host/work/.git/worktrees/W\n');
    writeFileSync(join(s.repo, '.git/worktrees/W/gitdir'), '/work/.git\n');
    expect(await s.assess()).toMatchObject({ verdict: 'unknown' });
    const views = [
      { inside: '/work', host: s.tree },
      { inside: '/jackin/host/work/.git', host: join(s.repo, '.git') },
    ];
    expect(await s.assess({ views })).toMatchObject({ verdict: 'clean', kind: 'worktree' });
  });
});
