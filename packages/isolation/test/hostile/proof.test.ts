import { expect, test } from '@jest/globals';
import { corpus, hostileScene } from '../../../../tools/hostile/corpus.ts';

test('the corpus is as large as it is meant to be, and its names are distinct', () => {
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
  expect(corpus.filter(({ proves }) => proves === 'runs').length).toBeGreaterThanOrEqual(40);
  expect(corpus.filter(({ proves }) => proves === 'reads').length).toBeGreaterThanOrEqual(15);
});

const proven = corpus.flatMap(({ name, fires, proves, kinds, plant }) =>
  fires === undefined ? [] : [{ name, fires, proves, plant, kind: kinds?.[0] ?? ('clone' as const) }],
);

test.each(proven.filter(({ proves }) => proves === 'runs'))(
  'plain git runs the planted program: $name',
  async ({ fires, kind, plant }) => {
    using scene = await hostileScene(kind);
    await plant(scene);
    const before = scene.fired().length;
    const end = await scene.git(fires.args, fires.input === undefined ? {} : { input: fires.input });
    expect({ end, more: scene.fired().length > before }).toEqual({ end, more: true });
  },
);

test.each(proven.filter(({ proves }) => proves === 'reads'))(
  'plain git reads outside of the tree: $name',
  async ({ fires, kind, plant }) => {
    using scene = await hostileScene(kind);
    await plant(scene);
    scene.watch();
    expect(scene.read()).toEqual([]);
    const end = await scene.git(fires.args, fires.input === undefined ? {} : { input: fires.input });
    expect({ end, more: scene.read().length > 0 }).toEqual({ end, more: true });
  },
);
