import {
  CONFIG_VERSION,
  compareVersions,
  parseVersion,
  type SchemaVersion,
  WORKSPACE_VERSION,
} from '@jackin/config';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';

const ORDER = [
  'legacy',
  'v1alpha1',
  'v1alpha9',
  'v1alpha10',
  'v1beta1',
  'v1',
  'v2alpha1',
  'v2beta3',
  'v2',
  'v10',
];
const parsed = (text: string) => parseVersion(text) as SchemaVersion;

test('versions are ordered legacy, alpha, beta, stable, and by number', () => {
  for (const [index, text] of ORDER.entries()) {
    for (const [other, otherText] of ORDER.entries()) {
      expect(Math.sign(compareVersions(parsed(text), parsed(otherText)))).toBe(Math.sign(index - other));
    }
  }
});

test.each([
  '',
  '1',
  'v',
  'v0',
  'v01',
  'v1alpha',
  'v1alpha0',
  'v1alpha01',
  'v1gamma1',
  'V1',
  'v1 ',
  'v1.0',
  'latest',
])('%j is not a version', (text) => {
  expect(parseVersion(text)).toBeNull();
});

test('every text of the form is a version and compares as its numbers do', () => {
  const number = fc.integer({ min: 1, max: 99 });
  fc.assert(
    fc.property(number, number, number, number, (major, minor, otherMajor, otherMinor) => {
      const difference = compareVersions(
        parsed(`v${major}alpha${minor}`),
        parsed(`v${otherMajor}alpha${otherMinor}`),
      );
      expect(Math.sign(difference)).toBe(Math.sign(major - otherMajor) || Math.sign(minor - otherMinor));
    }),
  );
});

test('the current versions are the documented ones', () => {
  expect([CONFIG_VERSION, WORKSPACE_VERSION]).toEqual(['v1alpha10', 'v1alpha9']);
});
