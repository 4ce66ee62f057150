import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { corpus, hostileScene, recordOf, type Scene } from '../../../../tools/hostile/corpus.ts';
import { type InstanceDocument, REMOVING_OPS } from '../../src/index.ts';
import { type Lab, loaded, loadRequest, openLab } from './support.ts';

jest.setTimeout(240_000);

let lab: Lab;
let id: string;
let isolation: string;
beforeAll(async () => {
  lab = await openLab();
  const made = loaded(await lab.jackin().load(loadRequest({ command: ['true'] })));
  id = made.instance_id;
  isolation = lab.paths.instance(made.container_base).isolation;
  await lab.jackin().stop({ instance: id, policy: 'keep', dryRun: false });
});
afterAll(() => lab.dispose());

/** What runs a program; the rest of the corpus withstands the same functions in packages/isolation. */
const cases = corpus
  .filter(({ proves }) => proves === 'runs')
  .map(({ name, plant, kinds = ['clone', 'worktree'] }, at) => ({
    name,
    plant,
    kind: kinds[at % kinds.length] as Scene['kind'],
  }));

test.each(cases)(
  'no verb runs or reads what was planted in a tree ($kind): $name',
  async ({ plant, kind }) => {
    using scene = await hostileScene(kind);
    await plant(scene);
    await writeFile(isolation, JSON.stringify({ version: 1, records: [recordOf(scene)] }));
    const fired = scene.fired().length;
    scene.watch();

    const shown = await lab.jackin().status({ instance: id, detail: true, sizes: false });
    const [instance] = (shown.document as { instances: InstanceDocument[] }).instances;
    expect(instance?.isolated[0]?.verdict).not.toBe('clean');
    const dry = { instance: id, dryRun: true } as const;
    const plans = [
      await lab.jackin().stop({ ...dry, policy: 'clean' }),
      await lab.jackin().purge({ ...dry, yes: true, force: true }),
      await lab
        .jackin()
        .resume({ ...dry, policy: null, detach: true, acceptLoss: true, allowDrift: true })
        .catch(() => null),
    ];
    const [stop] = plans;
    if (stop?.kind !== 'plan') throw new Error('a dry run makes a plan');
    expect(
      stop.document.plan.steps.filter(({ op }) => REMOVING_OPS.has(op) && op !== 'remove_container'),
    ).toEqual([]);
    expect({ fired: scene.fired().slice(fired), read: scene.read() }).toEqual({ fired: [], read: [] });
  },
);
