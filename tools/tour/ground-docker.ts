import { expectThat } from './check.ts';
import { instanceIdOf, type TourEngine } from './engine.ts';
import type { Ground } from './ground.ts';
import { say } from './say.ts';
import type { Scratch } from './scratch.ts';

/** The first load on an engine may have to pull the base of the image and to build it. */
const LOAD_LIMIT_MS = 600_000;
/** Everybody may write there, and it is no mount: it lies in the container's own layer. */
const LAYER_FILE = '/var/tmp/layer.txt';
const LAYER = 'installed in the container';

/** Sessions that are containers of an engine of this machine. */
export function dockerGround(engine: TourEngine, scratch: Scratch, because: string): Ground {
  const remains = (base: string) => engine.remains({ root: scratch.root, bases: [base] });
  const fillLayer: [string, string] = [`echo ${LAYER} > ${LAYER_FILE}; cat ${LAYER_FILE}`, LAYER];
  return {
    backend: 'docker',
    because,
    isolation: [
      'the agent sees its container, its home and the project, nothing else of this machine',
      'the image of the role is built by the first load of it on an engine',
    ],
    loadLimitMs: LOAD_LIMIT_MS,
    typed: [fillLayer],
    layer: ({ didNotReturn }) =>
      didNotReturn.includes('writable_layer')
        ? // Filled again: the loss of an empty one is none, and is not told.
          [[`cat ${LAYER_FILE}`, `cat: ${LAYER_FILE}: No such file or directory`], fillLayer]
        : [[`cat ${LAYER_FILE}`, LAYER]],
    losses: [
      {
        title: 'Lose it: the container is killed',
        happen: async (base) => {
          await engine.kill(base);
          say(`* ${base} was killed through the engine's interface, as "docker kill" does it`);
          expectThat(!(await engine.isRunning(base)), 'the container should not run any more, and it does');
        },
        status: 'stopped',
        cause: 'killed',
        comeBack: 'Get it back: the same container',
        back: { tier: 1, didNotReturn: ['live_processes'] },
      },
      {
        title: 'Lose more: the container itself is removed',
        happen: async (base) => {
          await engine.removeByForce(base);
          say(`* ${base} was removed through the engine's interface, as "docker rm -f" does it`);
          const left = (await remains(base)).filter((name) => name.startsWith('container '));
          expectThat(left.length === 0, `the container should be gone, and there is ${left}`);
        },
        status: 'restore_available',
        cause: null,
        comeBack: 'Get it back: a new container from the same image',
        back: { tier: 2, didNotReturn: ['live_processes', 'writable_layer'] },
      },
    ],
    afterKeep: { tier: 2, didNotReturn: ['writable_layer'] },
    kept: 'nothing runs, the container is freed with its own layer; home and project are kept, the image is pinned',
    runs: (base) => engine.isRunning(base),
    remains,
    keeps: (base) => [`image tag jk-keep:${instanceIdOf(base)}`],
  };
}
