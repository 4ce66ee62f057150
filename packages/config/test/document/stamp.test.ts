import { expect, test } from '@jest/globals';
import { stampVersion } from '../../src/document/index.ts';

test.each<[title: string, before: string, after: string]>([
  ['an empty text', '', 'version = "v9"\n'],
  ['only a comment', '# c', 'version = "v9"\n\n# c'],
  ['a first version', 'version = "v1" # c\na = 1\n', 'version = "v9" # c\na = 1\n'],
  ['the same version', "version   = 'v9'\n", "version   = 'v9'\n"],
  ['no version', '# head\n\n# a\na = 1\n', '# head\n\nversion = "v9"\n# a\na = 1\n'],
  [
    'no version and only sections',
    '# head\n\n# s\n[s]\na = 1\n',
    '# head\n\nversion = "v9"\n\n# s\n[s]\na = 1\n',
  ],
  [
    'a version further down',
    '\uFEFF# a\r\na = 1\r\n\r\nversion = "v1" # c\r\n[s]\r\n',
    '\uFEFFversion = "v9" # c\r\n# a\r\na = 1\r\n\r\n[s]\r\n',
  ],
  ['a version at the end', 'a = 1\nversion = "v1"', 'version = "v9"\na = 1'],
  ['a version of another table', '[s]\nversion = "v1"\n', 'version = "v9"\n\n[s]\nversion = "v1"\n'],
])('the version of %s', (_title, before, after) => {
  expect(stampVersion(before, 'v9')).toBe(after);
  expect(stampVersion(after, 'v9')).toBe(after);
});
