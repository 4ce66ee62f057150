import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Judged } from './lane.ts';
import { addTo, emptyTally, keptAlthoughSafe, summary, type Tally } from './report.ts';

const USAGE = `npm run fuzz:exit -- [--histories N] [--seed N] [--workers N] [--json]

Makes random histories with real git, lets the exit decide about each tree, and has the oracle look whether anything is
gone that was nowhere else. Ends with 1 when something is. A seed alone makes its history again: --histories 1 --seed N.

  --histories N   how many (default 5000)
  --seed N        the first seed; the others follow (default: random; each history says its own)
  --workers N     how many at the same time (default: one per processor)
  --json          each history as a line of JSON
`;

const REPORT_EVERY = 500;

/** What a git is started from should be small: the memory of a process is copied with every one it starts. */
const SMALL = ['--max-semi-space-size=1'];
const COMPILED = new URL('../../node_modules/.cache/oracle/', import.meta.url);

// A process with a channel was started below.
if (process.send === undefined) process.exitCode = await main();
else (await import('./lane.ts')).serve();

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
    await using lane = startLane();
    while (next < histories) {
      const number = seed + next;
      next += 1;
      const judged = await lane.judge(number);
      note(judged, tally);
      if (values.json) process.stdout.write(`${JSON.stringify(judged)}\n`);
      if (tally.histories % REPORT_EVERY === 0) tell(`${summary(tally, performance.now() - started)}\n`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  tell(`${summary(tally, performance.now() - started)}\n${keptAlthoughSafe(tally)}`);
  return tally.losses === 0 && tally.failures === 0 ? 0 : 1;
}

interface Lane extends AsyncDisposable {
  judge(seed: number): Promise<Judged>;
}

/** This program once more, as a process that is sent seeds. */
function startLane(): Lane {
  const child = fork(fileURLToPath(import.meta.url), [], {
    execArgv: [...process.execArgv, ...SMALL],
    env: { ...process.env, NODE_COMPILE_CACHE: fileURLToPath(COMPILED) },
  });
  // Not `close`: that does not come where this side has closed the channel.
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    async judge(seed) {
      const { promise, resolve, reject } = Promise.withResolvers<Judged>();
      const ended = (): void => reject(new Error(`the process that judges ended with seed ${seed}`));
      child.once('message', resolve);
      child.once('exit', ended);
      child.send(seed);
      return promise.finally(() => {
        child.off('message', resolve);
        child.off('exit', ended);
      });
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

function note(judged: Judged, tally: Tally): void {
  if ('failed' in judged) {
    tally.failures += 1;
    process.stderr.write(`FAILED seed ${judged.seed} (${judged.kind}): ${judged.failed}\n`);
    return;
  }
  addTo(tally, judged);
  const { seed, kind, losses, steps } = judged;
  if (losses.length > 0) {
    process.stderr.write(`LOSS seed ${seed} (${kind}): ${losses.join(', ')}\n  ${steps.join('; ')}\n`);
  }
}
