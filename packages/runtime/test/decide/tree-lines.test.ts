import type { Evidence, NestedEvidence } from '@jackin/isolation';
import { describe, expect, test } from '@jest/globals';
import { evidenceLines, treeLines } from '../../src/index.ts';

const NOTHING: Evidence = {
  files: [],
  head: { commit: 'a'.repeat(40), branch: 'jackin/scratch/x', ahead: 0 },
  branches: [],
  stashes: [],
  in_progress: [],
  nested: [],
  ignored: { count: 0, bytes: 0, largest: null, files: [], directories: [] },
};
const file = (path: string, status = ' M') => ({ path, path_is_lossy: false, status });

describe('the lines about a tree', () => {
  test('name files with their letters, and branches with the commits that are nowhere else', () => {
    const lines = evidenceLines({
      ...NOTHING,
      files: [file('src/a.ts'), file('notes.md', '??')],
      branches: [{ name: 'feature/x', commit: 'b'.repeat(40), ahead: 2, upstream: 'origin/feature/x' }],
    });
    expect(lines).toEqual([
      'uncommitted   2 files',
      '   M src/a.ts',
      '  ?? notes.md',
      'unpushed      1 branch',
      '  feature/x  2 commits ahead of origin/feature/x',
    ]);
  });

  test('say of a name for something that is no commit what it is', () => {
    const held = { commit: 'b'.repeat(40), ahead: 0, upstream: null };
    const lines = evidenceLines({
      ...NOTHING,
      branches: [
        { ...held, name: 'refs/tags/v1', object: 'tag' },
        { ...held, name: 'refs/tags/key', object: 'blob' },
      ],
    });
    expect(lines.slice(1)).toEqual([
      '  refs/tags/v1  text of the tag on no remote',
      '  refs/tags/key  blob on no remote',
    ]);
  });

  test('name everything else that would be lost', () => {
    const nested: NestedEvidence = {
      path: 'vendor/lib',
      path_is_lossy: false,
      kind: 'submodule',
      verdict: 'unpushed',
      reason: '1 commit on no remote',
      evidence: null,
    };
    const lines = evidenceLines({
      ...NOTHING,
      files: [
        { ...file('run.sh'), mode_only: true },
        { ...file('secret'), hidden: 'skip_worktree' },
      ],
      head: {
        commit: 'c'.repeat(40),
        branch: null,
        ahead: 1,
        differs_from: { branch: 'jackin/scratch/x', commit: 'd'.repeat(40) },
      },
      stashes: [{ commit: 'e'.repeat(40), message: 'WIP on main' }],
      in_progress: ['rebase'],
      nested: [nested],
      ignored: {
        count: 2,
        bytes: 30,
        largest: null,
        files: [{ path: '.env', path_is_lossy: false }],
        directories: [{ path: 'node_modules/', path_is_lossy: false }],
      },
    }).join('\n');
    expect(lines).toContain('mode only     1 file');
    expect(lines).toContain('hidden by skip-worktree');
    expect(lines).toContain('cccccccccccc  1 commit on no branch');
    expect(lines).toContain('not where jackin/scratch/x is (dddddddddddd)');
    expect(lines).toContain('stashed       1 stash');
    expect(lines).toContain('in progress   rebase');
    expect(lines).toContain('vendor/lib  submodule unpushed: 1 commit on no remote');
    expect(lines).toContain('2 files, 30 bytes: .env, node_modules/ and 1 more');
  });

  test('count what they cut', () => {
    const files = Array.from({ length: 73 }, (_, at) => file(`f${at}`));
    const lines = evidenceLines({ ...NOTHING, files });
    expect(lines[0]).toBe('uncommitted   73 files');
    expect(lines.at(-1)).toBe('  … and 23 more');
  });

  test('a tree nobody could look at says so and never looks empty', () => {
    const unseen = { verdict: 'unknown' as const, reason: 'git did not finish in time' };
    expect(treeLines({ ...unseen, evidence: null })).toEqual([
      'could not be assessed: git did not finish in time',
    ]);
    expect(treeLines({ ...unseen, evidence: NOTHING })[0]).toContain('could not be assessed');
  });

  test('a landed branch is told apart from one that would be lost', () => {
    const branch = {
      name: 's',
      commit: 'f'.repeat(40),
      ahead: 2,
      upstream: null,
      upstream_gone: true as const,
    };
    const lines = evidenceLines({
      ...NOTHING,
      branches: [{ ...branch, landed: { how: 'patch', commit: '1'.repeat(40) } }],
    });
    expect(lines).toEqual(['landed        1 branch', '  s  as 111111111111 on a remote']);
  });
});
