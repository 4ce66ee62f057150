import { expectThat } from './check.ts';
import type { Ground } from './ground.ts';
import { allGone, kill } from './processes.ts';
import { say } from './say.ts';
import type { Scratch } from './scratch.ts';

const GONE_MS = 10_000;
const LOAD_LIMIT_MS = 60_000;

/** Sessions that are processes of this machine. */
export function standaloneGround(scratch: Scratch, because: string): Ground {
  return {
    backend: 'standalone',
    because,
    isolation: ['it isolates files, not the machine'],
    loadLimitMs: LOAD_LIMIT_MS,
    typed: [],
    layer: () => [],
    losses: [
      {
        title: 'Lose it: the supervisor and everything under it is killed',
        happen: (base) => killEverything(scratch, base),
        status: 'crashed',
        cause: 'capsule_crash',
        comeBack: 'Get it back',
        back: { tier: 1, didNotReturn: ['live_processes'] },
      },
    ],
    afterKeep: { tier: 1, didNotReturn: [] },
    kept: 'nothing runs, everything is kept',
    runs: async (base) => (await scratch.processesOf(base)).length > 0,
    remains: async (base) => (await scratch.processesOf(base)).map(({ pid }) => `process ${pid}`),
    keeps: () => [],
  };
}

async function killEverything(scratch: Scratch, base: string): Promise<void> {
  const processes = await scratch.processesOf(base);
  const supervisor = scratch.manifest(base).backend?.standalone?.pid;
  expectThat(
    processes.some(({ pid }) => pid === supervisor),
    `the supervisor ${supervisor} of the manifest should be among the processes ${processes.map(({ pid }) => pid)}`,
  );
  say(`$ kill -9 ${processes.map(({ pid }) => pid).join(' ')}`);
  for (const identity of processes) kill(identity);
  expectThat(
    await allGone(processes, performance.now() + GONE_MS),
    'the killed processes should be gone, and one lives',
  );
}
