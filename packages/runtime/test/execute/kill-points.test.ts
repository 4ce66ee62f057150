import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CapsuleConnection } from '@jackin/capsule/client';
import { findProcessesByEnv, type JackinEvent } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { classifyAgentEnd } from '../../src/decide/index.ts';
import { execute } from '../../src/execute/executor.ts';
import type { InstanceFacts } from '../../src/facts.ts';
import type { Plan } from '../../src/plan.ts';
import { bundled } from './support/bundled.ts';
import {
  factsOf,
  finishClean,
  keepPlan,
  launchPlan,
  mustObserve,
  purgePlan,
  reconcile,
  restorePlan,
  stopPlan,
} from './support/decisions.ts';
import { newSubject, type Subject } from './support/plans.ts';
import { childEnv, createScratch, killInstance, listing, type Scratch } from './support/scratch.ts';

const PROGRAM = await bundled(new URL('./support/run-plan.ts', import.meta.url));
/** Dozens of processes, on a machine that may be busy. */
const TIMEOUT_MS = 5 * 60_000;

let scratch: Scratch;
let subject: Subject;
let connection: CapsuleConnection | undefined;

beforeEach(async () => {
  scratch = await createScratch();
});
afterEach(async () => {
  connection?.close();
  connection = undefined;
  await scratch.dispose();
});

/** Runs the plan in a process of its own that dies right after step `k`; returns its journal. */
async function killedAfter(
  plan: Plan,
  k: number | 'listens',
): Promise<Extract<JackinEvent, { type: 'step' }>[]> {
  const file = join(scratch.root, 'plan.json');
  const journal = join(scratch.root, 'journal.ndjson');
  await writeFile(file, JSON.stringify(plan));
  await rm(journal, { force: true });
  const child = spawn(PROGRAM.file, [...PROGRAM.args, scratch.root, file, String(k)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: await childEnv(),
  });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  const lines = (await readFile(journal, 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'step');
}

/**
 * Kills a plan after each of its steps in turn; `prepare` makes the state it starts from, `verify` judges what is
 * left. Every point starts from an instance of its own, unless `reuse` says that `verify` leaves a fit one.
 */
async function everyKillPoint(options: {
  prepare(k: number): Promise<Plan>;
  verify(k: number, plan: Plan): Promise<void>;
  reuse?: boolean;
}): Promise<void> {
  let points = 1;
  for (let k = 1; k <= points; k++) {
    if (k === 1 || !options.reuse) subject = newSubject(scratch.workdir);
    const plan = await options.prepare(k);
    points = plan.steps.length;
    const journal = await killedAfter(plan, k);
    const finished = journal.filter(({ state }) => state === 'done' || state === 'skipped');
    expect(finished.map(({ step_id }) => step_id)).toEqual(plan.steps.slice(0, k).map(({ id }) => id));
    expect(journal).toHaveLength(2 * k);
    await options.verify(k, plan);
    if (k === points || !options.reuse) await expectCleanable();
  }
}

async function expectCleanable(): Promise<void> {
  await killInstance(subject.instanceId);
  await finishClean(scratch, subject);
  await expectNothingLeft();
}

async function launched(): Promise<InstanceFacts> {
  await execute(launchPlan(subject), scratch.ports());
  return mustObserve(scratch, subject);
}

async function expectNothingLeft(): Promise<void> {
  const names = await listing(scratch.paths.homeDir);
  expect(names.filter((name) => name.includes(subject.instanceId))).toEqual([]);
  expect((await scratch.store.load()).rows).toEqual([]);
  expect(await findProcessesByEnv('JACKIN_INSTANCE', subject.instanceId)).toEqual([]);
}

/** The session comes back with the file it left in its home. */
async function expectRestorable(): Promise<void> {
  const before = await mustObserve(scratch, subject);
  await execute(restorePlan(before, subject), scratch.ports());
  const after = await mustObserve(scratch, subject);
  expect(after.manifest.status).toBe('running');
  if (after.capsule.state !== 'answers') throw new Error(after.capsule.reason);
  expect(after.capsule.sessions.filter(({ alive }) => alive)).toHaveLength(1);
}

describe('a kill after any step leaves an honest record, and the next command converges', () => {
  it(
    'of a launch',
    () =>
      everyKillPoint({
        prepare: async () => launchPlan(subject),
        verify: async (k, plan) => {
          const facts = await mustObserve(scratch, subject);
          expect(facts.lock.state).toBe('free');
          expect(facts.manifest.status).toBe(k < plan.steps.length ? 'active' : 'running');
          await reconcile(scratch);
          await expectRestorable();
        },
      }),
    TIMEOUT_MS,
  );

  it(
    'of a launch between the capsule and the record of it: it is found, recorded and not started twice',
    async () => {
      subject = newSubject(scratch.workdir);
      const journal = await killedAfter(launchPlan(subject), 'listens');
      expect(journal.at(-1)).toMatchObject({ op: 'start_container', state: 'started' });
      const [capsule] = await findProcessesByEnv('JACKIN_INSTANCE', subject.instanceId);
      const facts = await mustObserve(scratch, subject);
      expect(facts.manifest.backend).toBeUndefined();
      const container = { state: 'running', engine_ref: String(capsule?.pid) };
      expect(facts.observation.container).toMatchObject(container);
      await reconcile(scratch);
      await expectRestorable();
      const { manifest } = await mustObserve(scratch, subject);
      expect(manifest.backend?.standalone).toEqual(capsule);
      await expectCleanable();
    },
    TIMEOUT_MS,
  );

  it(
    'of a restore after a crash',
    () => {
      const notes = () => join(scratch.paths.instance(subject.base).home, 'notes');
      return everyKillPoint({
        reuse: true,
        prepare: async (k) => {
          if (k === 1) {
            await launched();
            await writeFile(notes(), 'mine');
          }
          await killInstance(subject.instanceId);
          return restorePlan(await mustObserve(scratch, subject), subject);
        },
        verify: async () => {
          await reconcile(scratch);
          await expectRestorable();
          expect(await readFile(notes(), 'utf8')).toBe('mine');
        },
      });
    },
    TIMEOUT_MS,
  );

  it(
    'of a stop',
    () =>
      everyKillPoint({
        prepare: async () => stopPlan(await launched()),
        verify: async () => {
          await execute(stopPlan(await mustObserve(scratch, subject)), scratch.ports());
          await reconcile(scratch);
          const { manifest } = await mustObserve(scratch, subject);
          expect(manifest).toMatchObject({ status: 'clean_exited', exit_cause: { kind: 'jackin_stop' } });
        },
      }),
    TIMEOUT_MS,
  );

  it(
    'of a keep, while the capsule still waits for the decision',
    () =>
      everyKillPoint({
        prepare: keepWithAttachedClient,
        verify: async () => {
          connection?.close();
          await reconcile(scratch);
          const { manifest } = await mustObserve(scratch, subject);
          expect(manifest.keep?.intent).toBe('operator');
          await expectRestorable();
        },
      }),
    TIMEOUT_MS,
  );

  it(
    'of a clean-up of a running instance',
    () =>
      everyKillPoint({
        prepare: async () => purgePlan(await launched()),
        verify: async () => {
          const facts = await factsOf(scratch, subject);
          const { rows } = await scratch.store.load();
          // What remains says what it is, and nothing offers itself for a restore.
          expect(facts?.manifest.status ?? 'purged').toBe('purged');
          for (const row of rows) expect(row.status).toBe('purged');
          await finishClean(scratch, subject);
        },
      }),
    TIMEOUT_MS,
  );
});

/** The agent has ended, and a client that is still attached keeps the capsule waiting. */
async function keepWithAttachedClient(): Promise<Plan> {
  const { manifest } = await launched();
  const ref = { instance_id: subject.instanceId, container_base: subject.base, manifest };
  const signal = AbortSignal.timeout(10_000);
  connection = await scratch.capsule.connect(ref, scratch.backend.capsule(ref), signal);
  await connection.attach({ sessionId: null, cols: 80, rows: 24 });
  await connection.endSession(subject.session.session_id, 0);
  const facts = await mustObserve(scratch, subject);
  expect(facts.capsule).toMatchObject({ state: 'answers', clients: 1, sessions: [{ alive: false }] });
  const end = { code: null, signal: 'SIGKILL', oom: false };
  return keepPlan(facts, classifyAgentEnd(end, facts, new Date().toISOString()));
}
