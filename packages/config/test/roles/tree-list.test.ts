import { describe, expect, test } from '@jest/globals';
import { parseTree, staysInside } from '../../src/roles/tree-list.ts';
import { refusal } from './support.ts';

const OBJECT = 'a'.repeat(40);
const entry = (mode: string, path: string | Buffer, size: string | number = 3) =>
  Buffer.concat([
    Buffer.from(`${mode} ${mode === '160000' ? 'commit' : 'blob'} ${OBJECT} ${String(size).padStart(7)}\t`),
    Buffer.from(path),
    Buffer.from([0]),
  ]);
const parse = (...entries: Buffer[]) => parseTree('https://example.com/role', Buffer.concat(entries));

describe('the files of a commit', () => {
  test('are files, programs and links; submodules are only named', () => {
    expect(
      parse(
        entry('100644', 'a/ä\tb'),
        entry('100755', 'run.sh'),
        entry('120000', 'link'),
        entry('160000', 'sub', '-'),
      ),
    ).toEqual({
      files: [
        { path: 'a/ä\tb', kind: 'file', object: OBJECT, bytes: 3 },
        { path: 'run.sh', kind: 'program', object: OBJECT, bytes: 3 },
        { path: 'link', kind: 'link', object: OBJECT, bytes: 3 },
      ],
      submodules: ['sub'],
    });
  });

  test.each([
    '..',
    '../x',
    'a/../x',
    '/etc/passwd',
    'a//b',
    '.',
    './a',
    '.git',
    '.GIT/config',
    'a/.Git/hooks/x',
    '',
  ])('may not be called %j', async (path) => {
    expect(await refusal(() => parse(entry('100644', path)))).toMatchObject({ code: 'ROLE_INVALID' });
    expect(await refusal(() => parse(entry('160000', path, '-')))).toMatchObject({ code: 'ROLE_INVALID' });
  });

  test('are refused with a name that is no text, an unknown mode, and beyond the limits', async () => {
    expect((await refusal(() => parse(entry('100644', Buffer.from([0xff]))))).message).toContain('UTF-8');
    expect((await refusal(() => parse(entry('040000', 'x')))).message).toContain('unknown mode');
    expect((await refusal(() => parse(entry('100644', 'x', 300 * 1024 * 1024)))).message).toContain(
      '256 MiB',
    );
    expect((await refusal(() => parse(entry('120000', 'x', 5000)))).message).toContain('too long');
    const many = Array.from({ length: 50_001 }, (_, at) => entry('100644', `f${at}`));
    expect((await refusal(() => parse(...many))).message).toContain('more than 50000 files');
  });
});

describe('a link', () => {
  test.each([
    ['link', 'file', true],
    ['link', './a/b', true],
    ['a/link', '../file', true],
    ['a/b/link', '../../c/d', true],
    ['link', '../outside', false],
    ['a/link', '../../outside', false],
    ['link', '/etc/passwd', false],
    ['link', 'a/../../outside', false],
    // What `a` leads to decides where this one leads.
    ['link', 'a/../b', false],
    ['a/link', '../b/../c', false],
    ['link', '', false],
  ])('at %s to %j stays inside: %s', (path, target, inside) => {
    expect(staysInside(path, target)).toBe(inside);
  });
});
