import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AssessOptions, assess, snapshotRefs } from '../../src/index.ts';
import { commit, git, ground, QUIET, session, write } from './helpers.ts';

const look = (path: string, options: AssessOptions = {}) => assess(path, { env: QUIET, ...options });

/** A blob nothing else has. */
function blob(repo: string, content = 'a key\n'): string {
  return execFileSync('git', ['hash-object', '-w', '--stdin'], {
    cwd: repo,
    input: content,
    encoding: 'utf8',
  }).trim();
}

/** What a launch knows of a clone. */
async function launched(repo: string): Promise<AssessOptions> {
  return {
    env: QUIET,
    base: git(repo, 'rev-parse', 'HEAD'),
    refsAtLaunch: await snapshotRefs(repo),
    expected: { kind: 'clone' },
  };
}

describe('a ref to something that is no commit', () => {
  test.each(['a blob', 'a tree', 'a tag of a blob'])(
    'is named while nothing else has it: %s',
    async (what) => {
      using g = ground();
      const id = what === 'a tree' ? git(g.repo, 'rev-parse', 'HEAD^{tree}') : blob(g.repo);
      git(g.repo, 'tag', ...(what === 'a tag of a blob' ? ['-a', '-m', 'x'] : []), 'key', id);
      const tip = git(g.repo, 'rev-parse', 'key');
      const found = await look(g.repo);
      const object = what === 'a blob' ? 'blob' : what === 'a tree' ? 'tree' : 'tag';
      expect(found).toMatchObject({
        verdict: 'unpushed',
        reason: '1 other ref unpushed',
        evidence: { branches: [{ name: 'refs/tags/key', commit: tip, ahead: 0, upstream: null, object }] },
        git_processes: 5,
      });
      // Once it is on the remote.
      git(g.repo, 'push', '-q', 'origin', 'key');
      expect(await look(g.repo)).toMatchObject({ verdict: 'clean', evidence: { branches: [] } });
    },
  );

  test('beside commits that are nowhere else hides none of them', async () => {
    using g = ground();
    git(g.repo, 'tag', 'key', blob(g.repo));
    commit(g.repo, 'work');
    git(g.repo, 'tag', 'at-work');
    expect((await look(g.repo)).evidence?.branches.map(({ name, ahead }) => [name, ahead])).toEqual([
      ['main', 1],
      ['refs/tags/at-work', 1],
      ['refs/tags/key', 0],
    ]);
  });

  test('is elsewhere when a remote-tracking ref has it, or it was there at launch', async () => {
    using g = ground();
    const id = blob(g.repo);
    git(g.repo, 'remote', 'set-url', 'origin', 'https://example.org/r.git');
    git(g.repo, 'tag', 'key', id);
    expect(await look(g.repo)).toMatchObject({ verdict: 'unpushed' });
    const refsAtLaunch = { 'refs/tags/other': id };
    expect(await look(g.repo, { refsAtLaunch })).toMatchObject({ verdict: 'clean' });
    git(g.repo, 'update-ref', 'refs/remotes/origin/tags/key', id);
    expect(await look(g.repo)).toMatchObject({ verdict: 'clean' });
  });

  test('of the repository a worktree belongs to stays with it; one of its own does not', async () => {
    using s = await session();
    const id = blob(s.repo);
    git(s.repo, 'tag', 'key', id);
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
    expect(await s.assess({ refsAtLaunch: null })).toMatchObject({ verdict: 'clean' });
    git(s.tree, 'update-ref', 'refs/worktree/key', id);
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
    git(s.repo, 'tag', '-d', 'key');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ name: 'refs/worktree/key', object: 'blob' }] },
    });
  });

  test('that is missing is unknown, and one of the launch that is gone is no obstacle', async () => {
    using g = ground();
    const id = blob(g.repo);
    git(g.repo, 'tag', 'key', id);
    const refsAtLaunch = { ...(await snapshotRefs(g.repo)), 'refs/heads/gone': '1'.repeat(40) };
    expect(await look(g.repo, { refsAtLaunch })).toMatchObject({ verdict: 'clean' });
    const object = `.git/objects/${id.slice(0, 2)}/${id.slice(2)}`;
    rmSync(join(g.repo, object));
    expect(await look(g.repo)).toMatchObject({ verdict: 'unknown' });
  });

  test('takes the same few processes, however many there are', async () => {
    using g = ground();
    const id = blob(g.repo);
    for (let n = 0; n < 300; n += 1) write(g.repo, `.git/refs/tags/t${n}`, `${id}\n`);
    const found = await look(g.repo, { refsAtLaunch: { 'refs/heads/gone': '1'.repeat(40) } });
    expect(found).toMatchObject({ verdict: 'unpushed', reason: '300 other refs unpushed', git_processes: 4 });
  });

  test('is told within the bound when everything else has to be looked at as well', async () => {
    using g = ground();
    git(g.repo, 'update-index', '--split-index');
    git(g.repo, 'update-index', '--assume-unchanged', 'a');
    write(g.repo, 'node_modules/m/i.js', '1');
    commit(g.repo, 'work');
    git(g.repo, 'tag', 'key', blob(g.repo));
    expect(await look(g.repo)).toMatchObject({
      verdict: 'unpushed',
      reason: '1 branch unpushed, 1 other ref unpushed',
      git_processes: 8,
    });
  });
});

describe('the text of an annotated tag', () => {
  test('made in a clone is only there until the tag is pushed; a light one has no text', async () => {
    using g = ground();
    const options = await launched(g.repo);
    git(g.repo, 'tag', 'light');
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'clean' });
    git(g.repo, 'tag', '-a', 'v1', '-m', 'what is new');
    expect(await look(g.repo, options)).toMatchObject({
      verdict: 'unpushed',
      evidence: {
        branches: [{ name: 'refs/tags/v1', commit: git(g.repo, 'rev-parse', 'v1'), ahead: 0, object: 'tag' }],
      },
      git_processes: 4,
    });
    git(g.repo, 'push', '-q', 'origin', 'v1');
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'clean' });
    git(g.repo, 'tag', '-f', '-a', 'v1', '-m', 'other words');
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'unpushed' });
  });

  test('on a commit that is nowhere else is told once', async () => {
    using g = ground();
    const options = await launched(g.repo);
    const id = commit(g.repo, 'work');
    git(g.repo, 'tag', '-a', 'v1', '-m', 'x');
    expect((await look(g.repo, options)).evidence?.branches).toMatchObject([
      { name: 'main', ahead: 1 },
      { name: 'refs/tags/v1', commit: id, ahead: 1 },
    ]);
  });

  test('on a commit that landed in another form is only there all the same', async () => {
    using g = ground();
    const other = join(g.dir, 'other');
    git(g.dir, 'clone', '-q', g.remote, other);
    const options = await launched(g.repo);
    git(g.repo, 'switch', '-qc', 'topic');
    commit(g.repo, 'work');
    git(g.repo, 'push', '-q', 'origin', 'topic');
    git(other, 'fetch', '-q');
    git(other, 'merge', '-q', '--squash', 'origin/topic');
    git(other, 'commit', '-qm', 'squashed');
    git(other, 'push', '-q', 'origin', 'main', ':topic');
    git(g.repo, 'fetch', '-q', '--prune');
    expect(await look(g.repo, options)).toMatchObject({
      verdict: 'clean',
      evidence: { branches: [{ landed: {} }] },
    });
    git(g.repo, 'tag', '-a', 'v1', '-m', 'x');
    expect(await look(g.repo, options)).toMatchObject({
      verdict: 'unpushed',
      reason: '1 other ref unpushed',
      evidence: {
        branches: [
          { name: 'topic', landed: {} },
          { name: 'refs/tags/v1', ahead: 0, object: 'tag' },
        ],
      },
    });
    git(g.repo, 'tag', '-d', 'v1');
    git(g.repo, 'tag', 'light');
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'clean' });
  });

  test('that was there at launch is elsewhere, whatever it is called by now', async () => {
    using g = ground();
    git(g.repo, 'tag', '-a', 'v1', '-m', 'x');
    const options = await launched(g.repo);
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'clean', git_processes: 3 });
    git(g.repo, 'tag', 'again', 'v1');
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'clean' });
  });

  test('that was fetched is on the remote', async () => {
    using g = ground();
    const other = join(g.dir, 'other');
    git(g.dir, 'clone', '-q', g.remote, other);
    const options = await launched(g.repo);
    commit(other, 'theirs');
    git(other, 'tag', '-a', 'v2', '-m', 'x');
    git(other, 'push', '-q', 'origin', 'main', 'v2');
    git(g.repo, 'fetch', '-q');
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'clean' });
    // Of a remote that is not on this machine there is only what git noted of the last fetch.
    const [url, away] = [g.remote.replace(/\.git$/, ''), 'https://example.org/r'];
    git(g.repo, 'remote', 'set-url', 'origin', 'https://me:secret@example.org/r.git/');
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'unpushed' });
    const fetched = git(g.repo, 'rev-parse', 'v2');
    write(g.repo, '.git/FETCH_HEAD', `${fetched}\tnot-for-merge\ttag 'v2' of ${away}\n`);
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'clean' });
    write(g.repo, '.git/FETCH_HEAD', `${fetched}\tnot-for-merge\ttag 'v2' of ${url}\n`);
    expect(await look(g.repo, options)).toMatchObject({ verdict: 'unpushed' });
  });

  test('without a record of the launch is as good as fetched', async () => {
    using g = ground();
    git(g.repo, 'tag', '-a', 'v1', '-m', 'x');
    expect(await look(g.repo)).toMatchObject({ verdict: 'clean', git_processes: 3 });
    git(g.repo, 'update-ref', 'MY_TAG', 'v1');
    git(g.repo, 'tag', '-d', 'v1');
    expect(await look(g.repo)).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ name: 'MY_TAG', object: 'tag' }] },
    });
  });

  test('made in a worktree stays in the repository it belongs to', async () => {
    using s = await session();
    git(s.tree, 'tag', '-a', 'v1', '-m', 'x');
    expect(await s.assess()).toMatchObject({ verdict: 'clean', git_processes: 3 });
    git(s.tree, 'update-ref', 'refs/worktree/v1', 'v1');
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
    git(s.repo, 'tag', '-d', 'v1');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ name: 'refs/worktree/v1', object: 'tag' }] },
    });
  });
});
