import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock, combineSinks, createJournal, type EventSink } from '@jackin/core';
import { execute } from '../../../src/execute/executor.ts';
import type { Plan } from '../../../src/plan.ts';
import { createScratch } from './scratch.ts';

/**
 * Executes a plan under the instance's lock and kills itself when step K has been told as finished, or, for
 * K = listens, as soon as the capsule listens: ROOT PLAN_FILE K.
 */
const [root, file, killAfter] = process.argv.slice(2) as [string, string, string];
let finished = 0;
const killer: EventSink = (event) => {
  if (killAfter === 'listens' && event.type === 'debug' && event.message.endsWith('listens')) {
    process.kill(process.pid, 'SIGKILL');
  }
  if (event.type !== 'step' || (event.state !== 'done' && event.state !== 'skipped')) return;
  finished += 1;
  if (finished === Number(killAfter)) process.kill(process.pid, 'SIGKILL');
};
const sink = combineSinks(createJournal(join(root, 'journal.ndjson')), killer);
const scratch = await createScratch({ root, sink });
const plan = JSON.parse(await readFile(file, 'utf8')) as Plan;
const lock = await acquireLock(scratch.paths.instance(plan.container_base as string).lock, {
  purpose: plan.kind,
  locksDb: scratch.paths.locksDb,
  waitMs: 0,
});
await execute(plan, scratch.ports({ lock }));
await lock.release();
