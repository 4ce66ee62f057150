import { describe, expect, test } from '@jest/globals';
import { wasRevived } from '../../src/decide/revived.ts';
import { container, factsOf, RUNNING } from './fixtures.ts';

const look = (status: 'active' | 'running' | 'crashed' | 'stopped', runs: boolean) =>
  factsOf('standalone', {
    manifest: { status },
    observation: { container: runs ? RUNNING : container() },
  });

describe('an instance that was waited for', () => {
  test.each([
    ['came back from a crash', look('crashed', false), look('running', true), true],
    ['was being started already', look('active', true), look('running', true), true],
    ['ran and runs', look('running', true), look('running', true), false],
    ['was stopped meanwhile', look('running', true), look('stopped', false), false],
    ['got its crash recorded', look('running', false), look('crashed', false), false],
    ['was not started after all', look('active', false), look('crashed', false), false],
  ] as const)('%s', (_title, before, now, revived) => {
    expect(wasRevived(before, now)).toBe(revived);
  });
});
