import { readFileSync } from 'node:fs';

import { resolveEnv } from '@jackin/config';
import { acquireLock, createJournal, resolvePaths, runProcess, systemClock } from '@jackin/core';
import { createInstanceStore } from '@jackin/instance';
import {
  createCapsuleAccess,
  createObserveOne,
  createStandaloneBackend,
  createTrees,
  execute,
} from '@jackin/runtime';

/**
 * Another program that uses jackin as a library: it takes the JSON a `--dry-run` printed (PLAN_FILE), executes its plan
 * under the instance's lock, and prints the receipt. CAPSULE is the supervisor's program.
 */
const [file, capsuleFile] = process.argv.slice(2) as [string, string];
const { env } = process;
const paths = resolvePaths(env);
const events = createJournal(env.JACKIN_LOG as string);
const clock = systemClock;
const store = createInstanceStore({ paths, events, clock });
const capsule = createCapsuleAccess({ paths, clientName: 'another program' });
const capsuleProgram = { file: process.execPath, args: [capsuleFile] };
const standalone = createStandaloneBackend({ paths, capsuleProgram, clock, events, env });
const trees = createTrees({ env });
const backends = new Map([[standalone.kind, standalone]]);
const { plan } = JSON.parse(readFileSync(file, 'utf8')).data;
const lock = await acquireLock(paths.instance(plan.container_base).lock, {
  purpose: plan.kind,
  locksDb: paths.locksDb,
  waitMs: 0,
});
const receipt = await execute(plan, {
  store,
  paths,
  backends,
  events,
  clock,
  observeOne: createObserveOne({ store, paths, backends, capsule, trees }),
  trees,
  lock,
  resolveEnv: (references) => resolveEnv(references, { hostEnv: env, run: runProcess }),
  capsule,
  hostEnv: env,
});
await lock.release();
process.stdout.write(JSON.stringify(receipt));
