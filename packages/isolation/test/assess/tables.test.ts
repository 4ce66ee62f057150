import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseCommits } from '../../src/assess/commits.ts';
import { isTracked, parseIndex } from '../../src/assess/index-file.ts';
import { parseLsFiles } from '../../src/assess/ls-files.ts';
import { fileName } from '../../src/assess/names.ts';
import { patchId, sections } from '../../src/assess/patch.ts';
import { elsewhere, upstreamOf } from '../../src/assess/remotes.ts';
import { parseStatus } from '../../src/assess/status.ts';
import { decideVerdict, fingerprint } from '../../src/assess/verdict.ts';
import type { Evidence, NestedEvidence } from '../../src/index.ts';
import { git, ground, write } from './helpers.ts';

const ID = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

const NOTHING: Evidence = {
  files: [],
  head: { commit: ID, branch: 's', ahead: 0 },
  branches: [],
  stashes: [],
  in_progress: [],
  nested: [],
  ignored: { count: 0, bytes: 0, largest: null, files: [], directories: [] },
};
const file = { status: ' M', path: 'a', path_is_lossy: false };
const branch = { name: 's', commit: ID, ahead: 1, upstream: null };
const landed = { how: 'tree', commit: OTHER } as const;
const inside = (verdict: NestedEvidence['verdict']): NestedEvidence[] => [
  { path: 'n', path_is_lossy: false, kind: 'repository', verdict, reason: 'why', evidence: null },
];

describe('the verdict', () => {
  test.each<[string, string, string, Partial<Evidence>, string[]]>([
    ['nothing', 'clean', 'nothing uncommitted, nothing unpushed', {}, []],
    ['a doubt', 'unknown', 'cannot look', {}, ['cannot look']],
    ['a doubt and a file', 'unknown', 'cannot look, 1 file uncommitted', { files: [file] }, ['cannot look']],
    ['two files', 'dirty', '2 files uncommitted', { files: [file, file] }, []],
    ['a mode', 'dirty', '1 mode-only change', { files: [{ ...file, mode_only: true }] }, []],
    ['an operation', 'dirty', 'rebase in progress', { in_progress: ['rebase'] }, []],
    ['a branch', 'unpushed', '1 branch unpushed', { branches: [branch] }, []],
    [
      'a branch that landed',
      'clean',
      `nothing uncommitted, and all of it landed: ${'b'.repeat(12)}`,
      { branches: [{ ...branch, landed }] },
      [],
    ],
    [
      'one that landed, one that did not',
      'unpushed',
      '1 branch unpushed',
      { branches: [{ ...branch, landed }, branch] },
      [],
    ],
    ['a tag', 'unpushed', '1 other ref unpushed', { branches: [{ ...branch, name: 'refs/tags/v' }] }, []],
    [
      'a detached HEAD',
      'unpushed',
      '2 commits on a detached HEAD',
      { head: { commit: ID, branch: null, ahead: 2 } },
      [],
    ],
    [
      'a detached HEAD that landed',
      'clean',
      `nothing uncommitted, and all of it landed: ${'b'.repeat(12)}`,
      { head: { commit: ID, branch: null, ahead: 2, landed } },
      [],
    ],
    ['a stash', 'unpushed', '1 stash entry', { stashes: [{ commit: ID, message: '' }] }, []],
    [
      'a file and a branch',
      'dirty',
      '1 file uncommitted, 1 branch unpushed',
      { files: [file], branches: [branch] },
      [],
    ],
    [
      'ignored files',
      'clean',
      'nothing uncommitted, nothing unpushed',
      { ignored: { ...NOTHING.ignored, count: 9 } },
      [],
    ],
    ['a lock', 'clean', 'nothing uncommitted, nothing unpushed', { index_lock: { age_ms: 1 } }, []],
    ['a clean one inside', 'clean', 'nothing uncommitted, nothing unpushed', { nested: inside('clean') }, []],
    ['a dirty one inside', 'dirty', 'dirty inside: n (why)', { nested: inside('dirty') }, []],
    ['an unpushed one inside', 'unpushed', 'unpushed inside: n (why)', { nested: inside('unpushed') }, []],
    [
      'a dirty one inside, a branch',
      'dirty',
      'dirty inside: n (why), 1 branch unpushed',
      { nested: inside('dirty'), branches: [branch] },
      [],
    ],
    [
      'an unknown one inside',
      'unknown',
      'unknown inside: n (why), 1 file uncommitted',
      { nested: inside('unknown'), files: [file] },
      [],
    ],
  ])('of %s is %s', (_what, verdict, reason, evidence, doubts) => {
    expect(decideVerdict({ doubts, evidence: { ...NOTHING, ...evidence } })).toEqual({ verdict, reason });
  });

  test('without evidence is unknown', () => {
    expect(decideVerdict({ doubts: [], evidence: null }).verdict).toBe('unknown');
  });

  test('has a fingerprint that neither the order of fields nor the age of a lock changes', () => {
    expect(fingerprint({ a: 1, b: { c: 2, age_ms: 3 } })).toBe(fingerprint({ b: { age_ms: 4, c: 2 }, a: 1 }));
    expect(fingerprint({ a: ['x'] })).not.toBe(fingerprint({ a: ['y'] }));
  });
});

describe('the answers of git status', () => {
  const parse = (...records: string[]) =>
    parseStatus(Buffer.from([`# branch.oid ${ID}`, ...records, ''].join('\0'), 'latin1'), ID);

  test('are taken apart to the last byte', () => {
    const { entries, ignored } = parse(
      `1 .M N... 100644 100644 100755 ${ID} ${ID} R5 odd\nname`,
      `2 R. N... 100644 100644 100644 ${ID} ${OTHER} R100 new -> name`,
      'old',
      `u UU N... 100644 100644 100644 100644 ${ID} ${ID} ${ID} both`,
      '? \xff',
      '! dist/',
    );
    expect(entries.map(({ status, path, origPath }) => [status, path, origPath])).toEqual([
      [' M', 'R5 odd\nname', null],
      ['R ', 'new -> name', 'old'],
      ['UU', 'both', null],
      ['??', '\xff', null],
    ]);
    expect(ignored).toEqual(['dist/']);
  });

  test.each([
    ['nothing', ''],
    ['no end', `# branch.oid ${ID}`],
    ['another commit', `# branch.oid ${OTHER}\0`],
    ['a repository without commits', '# branch.oid (initial)\0'],
    ['a word', `# branch.oid ${ID}\0garbage\0`],
    ['an entry without a name', `# branch.oid ${ID}\x001 .M N... 100644 100644 100644 ${ID} ${ID} \0`],
    [
      'a rename without its other name',
      `# branch.oid ${ID}\x002 R. N... 100644 100644 100644 ${ID} ${ID} R100 a\0`,
    ],
  ])('are refused: %s', (_what, output) => {
    expect(() => parseStatus(Buffer.from(output), ID)).toThrow(/git status/);
  });

  test('of any names are those names', () => {
    const name = fc.string({
      unit: fc.integer({ min: 1, max: 255 }).map((byte) => String.fromCharCode(byte)),
      minLength: 1,
    });
    fc.assert(
      fc.property(fc.array(name), (names) => {
        expect(parse(...names.map((one) => `? ${one}`)).entries.map(({ path }) => path)).toEqual(names);
        for (const one of names) {
          const { path, path_base64 } = fileName(one);
          expect(
            path_base64 === undefined
              ? Buffer.from(path).toString('latin1')
              : Buffer.from(path_base64, 'base64').toString('latin1'),
          ).toBe(one);
        }
      }),
    );
  });
});

describe('an index', () => {
  test.each([2, 3, 4])('of version %s says the same as git ls-files', (version) => {
    using g = ground();
    for (const name of ['d/e/f', 'd/e/g', 'd/z', 'long/'.repeat(40), 'ä']) write(g.repo, `${name}x`, name);
    git(g.repo, 'add', '-f', '.');
    git(g.repo, 'update-index', '--index-version', `${version}`);
    git(g.repo, 'update-index', '--add', '--cacheinfo', `160000,${ID},link`);
    git(g.repo, 'update-index', '--skip-worktree', 'a');
    git(g.repo, 'update-index', '--assume-unchanged', 'b', 'd/zx');
    rmSync(join(g.repo, 'c'));
    const listed = parseLsFiles(execFileSync('git', ['ls-files', '-v', '-s', '-z'], { cwd: g.repo }));
    const index = parseIndex(readFileSync(join(g.repo, '.git/index')), 'sha1');
    expect(index?.paths()).toEqual(listed.map(({ path }) => path));
    expect(index?.special).toEqual(
      listed.filter(
        ({ mode, skipWorktree, assumeUnchanged }) => mode === '160000' || skipWorktree || assumeUnchanged,
      ),
    );
    expect(index?.special).toHaveLength(4);
    expect(index !== null && [isTracked(index, 'd/zx'), isTracked(index, 'd/z')]).toEqual([true, false]);
  });

  test('that is cut off anywhere is a doubt or readable, never a fault', () => {
    using g = ground();
    const bytes = readFileSync(join(g.repo, '.git/index'));
    for (let length = 12; length < bytes.length - 20; length += 1) {
      try {
        parseIndex(bytes.subarray(0, length), 'sha1');
      } catch (error) {
        expect(error).toMatchObject({ name: 'Doubt' });
      }
    }
  });
});

describe('patches', () => {
  const diff = (at: number, body: string, ids = 'index 1..2 100644') =>
    `diff --git a/f b/f\n${ids}\n--- a/f\n+++ b/f\n@@ -${at},2 +${at},2 @@ context\n${body}`;

  test('are the same wherever in the file they are, whatever it was before', () => {
    expect(patchId(diff(1, '-a\n+b\n'))).toBe(patchId(diff(90, '-a\n+b\n', 'index 3..4 100644')));
  });

  test.each([
    ['another line', diff(1, '-a\n+c\n')],
    ['white space', diff(1, '-a\n+b \n')],
    ['a line that looks like one of the head', diff(1, '-a\n+b\n index 1..2\n')],
    ['another file', diff(1, '-a\n+b\n').replaceAll('/f', '/g')],
    ['a new file', diff(1, '-a\n+b\n', 'new file mode 100644\nindex 0..2')],
  ])('differ by %s', (_what, other) => {
    expect(patchId(other)).not.toBe(patchId(diff(1, '-a\n+b\n')));
  });

  test('of binary files differ by the ids of their contents', () => {
    const binary = (id: string) =>
      `diff --git a/f b/f\nindex 1..${id}\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n`;
    expect(patchId(binary('2'))).not.toBe(patchId(binary('3')));
  });

  test('of nothing have no id', () => {
    expect(patchId('')).toBeNull();
  });

  test('are split at exactly the titles that were asked for', () => {
    const body = diff(1, '-a\n+b\n');
    expect(sections(`${ID}\n${body}${OTHER}\n`, [ID, OTHER])).toEqual([
      { title: ID, diff: body },
      { title: OTHER, diff: '' },
    ]);
    expect(sections(`${ID}\n${body}`, [ID, OTHER])).toBeNull();
    expect(sections(`${OTHER}\n${body}`, [ID])).toBeNull();
    expect(sections(`${ID}\ngarbage\n`, [ID])).toBeNull();
    expect(sections('', [ID])).toBeNull();
  });
});

describe('the answers of git rev-list', () => {
  test.each(['garbage\n', `${ID}\n`, `${ID}\0${ID}\0\0`])('are refused: %j', (output) => {
    expect(() => parseCommits(Buffer.from(output))).toThrow(/git rev-list/);
  });
});

describe('a remote', () => {
  onGround('counts when it is configured and leads away from the tree', (dir, repo, remote) => {
    const refs = new Map([
      ['refs/remotes/r/main', ID],
      ['refs/remotes/r/HEAD', ID],
      ['refs/heads/main', OTHER],
    ]);
    const counts = (settings: Record<string, string[]>) =>
      elsewhere(refs, new Map(Object.entries(settings)), { within: [repo], from: repo, views: [] }).length >
      0;
    const url = (...urls: string[]) => ({ 'remote.r.url': urls });
    expect(counts({})).toBe(false);
    for (const away of [
      'https://example.org/r',
      'git@example.org:r',
      'ssh://example.org/r',
      remote,
      '../remote.git',
      `file://${remote}`,
    ]) {
      expect([away, counts(url(away))]).toEqual([away, true]);
    }
    for (const here of [
      '',
      '.',
      './sub',
      repo,
      `${repo}/.git`,
      `file://${repo}`,
      '/nowhere',
      'ext::sh -c true',
      `${dir}/gone`,
    ]) {
      expect([here, counts(url(here))]).toEqual([here, false]);
    }
    expect(counts(url('https://example.org/r', repo))).toBe(false);
    expect(counts({ ...url('https://example.org/r'), 'remote.r.pushurl': [repo] })).toBe(false);
    expect(
      counts({ ...url('https://example.org/r'), [`url.${repo}/.insteadof`]: ['https://example.org/'] }),
    ).toBe(false);
  });

  test('is what a branch follows, by its own mapping of names', () => {
    const settings = new Map([
      ['branch.b.remote', ['r']],
      ['branch.b.merge', ['refs/heads/x']],
      ['remote.r.fetch', ['+refs/heads/*:refs/remotes/other/*']],
    ]);
    expect(upstreamOf('b', settings, new Map())).toEqual({ name: 'r/x', gone: true });
    expect(upstreamOf('b', settings, new Map([['refs/remotes/other/x', ID]]))).toEqual({
      name: 'r/x',
      gone: false,
    });
    expect(upstreamOf('c', settings, new Map())).toBeNull();
  });
});

function onGround(title: string, body: (dir: string, repo: string, remote: string) => void): void {
  test(title, () => {
    using g = ground();
    body(g.dir, g.repo, g.remote);
  });
}
