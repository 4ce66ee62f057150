import { describe, expect, test } from '@jest/globals';
import { chainFaults, type MigrationChain, restamp, stepsFrom } from '../../src/migrate/chain.ts';
import { chains } from '../../src/migrate/migrate-text.ts';
import { CONFIG_VERSION, MANIFEST_VERSION, WORKSPACE_VERSION } from '../../src/version.ts';

const chain = (target: string, ...steps: [string, string][]): MigrationChain => ({
  target,
  steps: steps.map(([from, to]) => restamp(from, to, 'something')),
});

describe('the chains', () => {
  test.each(Object.entries(chains))('of %s has no fault and begins at legacy', (_kind, own) => {
    expect(chainFaults(own)).toEqual([]);
    expect(own.steps[0]?.from).toBe('legacy');
  });

  test('end at the documented versions, one step per version', () => {
    expect(Object.values(chains).map(({ target, steps }) => [target, steps.length])).toEqual([
      [CONFIG_VERSION, 10],
      [WORKSPACE_VERSION, 9],
      [MANIFEST_VERSION, 6],
    ]);
  });
});

describe('a broken chain is told', () => {
  test.each<[title: string, MigrationChain, RegExp[]]>([
    ['good', chain('v1', ['legacy', 'v1alpha1'], ['v1alpha1', 'v1']), []],
    ['empty', chain('v1'), [/reaches legacy, not v1/]],
    ['a gap', chain('v1', ['legacy', 'v1alpha1'], ['v1alpha2', 'v1']), [/v1alpha2 → v1: a gap, v1alpha1/]],
    ['a late start', chain('v1', ['v1alpha1', 'v1']), [/a gap, legacy/]],
    [
      'a step back',
      chain('v1alpha2', ['legacy', 'v1alpha2'], ['v1alpha2', 'v1alpha1'], ['v1alpha1', 'v1alpha2']),
      [/v1alpha2 → v1alpha1: not forward/],
    ],
    ['a step in place', chain('v1', ['legacy', 'v1'], ['v1', 'v1']), [/not forward/]],
    ['an overshoot', chain('v1alpha9', ['legacy', 'v1']), [/beyond v1alpha9/, /reaches v1, not v1alpha9/]],
    ['short of its target', chain('v2', ['legacy', 'v1']), [/reaches v1, not v2/]],
    [
      'two steps from one version',
      chain('v1', ['legacy', 'v1alpha1'], ['legacy', 'v1']),
      [/a second step from legacy/, /a gap/],
    ],
    ['no version', chain('v1', ['legacy', '1.0']), [/not versions/, /reaches legacy/]],
    ['nothing said', { target: 'v1', steps: [restamp('legacy', 'v1', '')] }, [/says nothing/]],
  ])('%s', (_title, broken, faults) => {
    expect(chainFaults(broken)).toEqual(faults.map((fault) => expect.stringMatching(fault)));
  });

  test('and walking one ends, with nothing', () => {
    expect(stepsFrom(chain('v1', ['legacy', 'v1alpha1'], ['v1alpha1', 'legacy']), 'legacy')).toBeNull();
    expect(stepsFrom(chain('v1', ['legacy', 'v1']), 'v1alpha7')).toBeNull();
    expect(stepsFrom(chain('v1', ['legacy', 'v1']), 'v1')).toEqual([]);
  });
});
