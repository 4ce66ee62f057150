import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { HistoryResult } from './history.ts';
import { addTo, emptyTally, keptAlthoughSafe, summary, type Tally } from './report.ts';
import { type Histories, startHistories } from './run.ts';
import { jackinSessions } from './session.ts';
import type { TreeKind } from './world.ts';

const USAGE = `npm run fuzz:exit -- [--histories N] [--seed N] [--workers N] [--json]

Makes random histories with real git, lets the exit decide about each tree, and has the oracle look whether anything is
gone that was nowhere else. Ends with 1 when something is. A seed alone makes its history again: --histories 1 --seed N.

  --histories N   how many (default 5000)
  --seed N        the first seed; the others follow (default: random; each history says its own)
  --workers N     how many at the same time (default: one per processor)
  --json          each history as a line of JSON
`;

const REPORT_EVERY = 500;

const sessions = jackinSessions();

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      histories: { type: 'string', default: '5000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 0x7fffffff)) },
      workers: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  });
  const [histories, seed, workers] = [values.histories, values.seed, values.workers].map(Number) as [
    number,
    number,
    number,
  ];
  const valid =
    [histories, seed, workers].every((value) => Number.isInteger(value) && value >= 0) && workers > 0;
  if (values.help || !valid) {
    (values.help ? process.stdout : process.stderr).write(USAGE);
    return values.help ? 0 : 2;
  }
  const tell = (text: string) => void (values.json || process.stdout.write(text));
  tell(`${histories} histories from seed ${seed}, ${workers} at a time\n`);
  const tally = emptyTally();
  const started = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    await using runner = startHistories();
    while (next < histories) {
      const number = seed + next;
      next += 1;
      const result = await one(runner.run, number, tally);
      if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
      if (tally.histories % REPORT_EVERY === 0) tell(`${summary(tally, performance.now() - started)}\n`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  tell(`${summary(tally, performance.now() - started)}\n${keptAlthoughSafe(tally)}`);
  return tally.losses === 0 && tally.failures === 0 ? 0 : 1;
}

type Judged = HistoryResult | { seed: number; kind: TreeKind; failed: string };

async function one(run: Histories['run'], seed: number, tally: Tally): Promise<Judged> {
  const kind = seed % 2 === 0 ? 'worktree' : 'clone';
  try {
    const result = await run(seed, { kind, ...sessions });
    addTo(tally, result);
    if (result.losses.length > 0) {
      process.stderr.write(
        `LOSS seed ${seed} (${kind}): ${result.losses.join(', ')}\n  ${result.steps.join('; ')}\n`,
      );
    }
    return result;
  } catch (error) {
    tally.failures += 1;
    const failed = error instanceof Error ? error.message : String(error);
    process.stderr.write(`FAILED seed ${seed} (${kind}): ${failed}\n`);
    return { seed, kind, failed };
  }
}
