import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execute } from '../../src/execute/executor.ts';
import type { Plan } from '../../src/plan.ts';
import {
  endedOf,
  finishClean,
  keepPlan,
  launchPlan,
  mustObserve,
  purgePlan,
  reconcile,
  restorePlan,
} from './support/decisions.ts';
import { newSubject, type Subject } from './support/plans.ts';
import { createScratch, killInstance, listing, type Scratch } from './support/scratch.ts';

/** Dozens of processes, on a machine that may be busy. */
const TIMEOUT_MS = 5 * 60_000;
const root = process.getuid?.() === 0 && process.platform === 'linux';

/** A disk of our own: mounting one needs root, as the checks run. */
(root ? describe : describe.skip)('a state directory that cannot be written', () => {
  let scratch: Scratch;
  let subject: Subject;
  let mount: string;

  beforeEach(async () => {
    scratch = await createScratch();
    mount = scratch.paths.homeDir;
    mkdirSync(mount, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=0700', 'none', mount]);
  });
  afterEach(async () => {
    await killAll();
    execFileSync('umount', ['-l', mount]);
    await scratch.dispose();
  });

  const killAll = async () => {
    if (subject !== undefined) await killInstance(subject.instanceId);
  };
  const filler = () => join(mount, 'filler');

  /** The disk takes no byte more, or no write at all. */
  const faults = {
    ENOSPC: {
      code: 'DISK_FULL',
      hint: /Free some space/,
      async cause() {
        const { bavail, bsize } = await statfs(mount);
        // The last page is handed out as well: a temporary file of one byte must not fit.
        await writeFile(filler(), Buffer.alloc(bavail * bsize));
      },
      heal: () => rm(filler()),
    },
    EROFS: {
      code: 'STATE_NOT_WRITABLE',
      hint: /writable/,
      // A capsule keeps its log open for writing, so the file system itself cannot be remounted: its only way in is.
      async cause() {
        execFileSync('mount', ['--bind', mount, mount]);
        execFileSync('mount', ['-o', 'remount,bind,ro', mount]);
      },
      heal: async () => void execFileSync('umount', [mount]),
    },
  };
  type FaultName = keyof typeof faults;

  /** Executes the plan with the fault in force from step `k` on; returns the failure, if there was one. */
  async function failingFrom(plan: Plan, k: number, fault: FaultName): Promise<unknown> {
    const before = { ...plan, steps: plan.steps.slice(0, k) };
    const rest = { ...plan, steps: plan.steps.slice(k) };
    await execute(before, scratch.ports());
    const manifest = await manifestText();
    await faults[fault].cause();
    try {
      await execute(rest, scratch.ports());
      return null;
    } catch (error) {
      const { code, message, hint, details } = error as {
        code: string;
        message: string;
        hint: string;
        details: { failed_step: { id: string } };
      };
      expect(code).toBe(faults[fault].code);
      expect(message).toContain(mount);
      expect(hint).toMatch(faults[fault].hint);
      if (details.failed_step.id === rest.steps[0]?.id) expect(await manifestText()).toBe(manifest);
      else expect(() => JSON.parse(manifest ?? '{}')).not.toThrow();
      return error;
    } finally {
      await faults[fault].heal();
    }
  }

  const manifestText = () =>
    readFile(scratch.paths.instance(subject.base).manifest, 'utf8').catch(() => null);

  async function everyStep(
    fault: FaultName,
    prepare: () => Promise<Plan>,
    verify: () => Promise<void>,
  ): Promise<number> {
    let failures = 0;
    let steps = 1;
    for (let k = 0; k < steps; k++) {
      subject = newSubject(scratch.workdir);
      const plan = await prepare();
      steps = plan.steps.length;
      if ((await failingFrom(plan, k, fault)) !== null) failures += 1;
      await verify();
      await killInstance(subject.instanceId);
      await finishClean(scratch, subject);
      const names = await listing(mount);
      expect(names.filter((name) => name.includes(subject.instanceId))).toEqual([]);
    }
    return failures;
  }

  describe.each(['ENOSPC', 'EROFS'] as const)('because of %s', (fault) => {
    it(
      'fails a launch at each step with file and fix; what exists can be brought back',
      async () => {
        const failures = await everyStep(
          fault,
          async () => launchPlan(subject),
          async () => {
            if ((await manifestText()) === null) return;
            await reconcile(scratch);
            const facts = await mustObserve(scratch, subject);
            await execute(restorePlan(facts, subject), scratch.ports());
          },
        );
        expect(failures).toBeGreaterThanOrEqual(5);
      },
      TIMEOUT_MS,
    );

    it(
      'fails a keep at each step; nothing restorable is lost',
      async () => {
        const failures = await everyStep(
          fault,
          async () => {
            await execute(launchPlan(subject), scratch.ports());
            await killInstance(subject.instanceId);
            const facts = await mustObserve(scratch, subject);
            return keepPlan(facts, endedOf(facts));
          },
          async () => {
            const facts = await mustObserve(scratch, subject);
            await execute(restorePlan(facts, subject), scratch.ports());
          },
        );
        expect(failures).toBeGreaterThanOrEqual(1);
      },
      TIMEOUT_MS,
    );

    it(
      'fails a clean-up at its writes; the next one finishes it',
      async () => {
        const failures = await everyStep(
          fault,
          async () => {
            await execute(launchPlan(subject), scratch.ports());
            await killInstance(subject.instanceId);
            return purgePlan(await mustObserve(scratch, subject));
          },
          async () => {},
        );
        expect(failures).toBeGreaterThanOrEqual(fault === 'EROFS' ? 4 : 1);
      },
      TIMEOUT_MS,
    );
  });
});
