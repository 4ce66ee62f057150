import { expect } from '@jest/globals';
import type { RaceResult } from './barrier.ts';
import type { Instance } from './instance.ts';
import { type JournalLine, stepsBegun } from './journal.ts';
import type { CliResult } from './sandbox.ts';

/** How often each race is run. */
export const REPETITIONS = 20;

/** Counts the races of a test whose two sides were really at it at the same time. */
export function overlapCount(): { note(raced: { overlapped: boolean }): void; expectEnough(): void } {
  let overlaps = 0;
  return {
    note({ overlapped }) {
      if (overlapped) overlaps += 1;
    },
    expectEnough() {
      expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
    },
  };
}

/** Of two plain loads one started, and the other exited 3 naming it. */
export function judgeLoads(raced: RaceResult): Instance {
  const [started, refused] = byCode(raced, [0, 3]);
  const { instance_id: id, container_base: base } = started.json().data;
  const { code, message, hint, details } = refused.json().error;
  expect(code).toBe('DECISION_NEEDED');
  expect(message).toContain(base);
  expect(hint).toContain(`--instance ${id}`);
  expect(details.candidates.map((row: { instance_id: string }) => row.instance_id)).toEqual([id]);
  expect(beganAs(raced.lines, 'start_container')).toBe(1);
  return { id, base };
}

/** Of two resumes one started the session, which had ended for `cause`, and the other joined that one. */
export function judgeResumes(raced: RaceResult, cause: string): void {
  const documents = byCode(raced, [0, 0]).map((result) => result.json().data);
  const [joined, started] = documents.sort((a, b) => a.tier - b.tier);
  expect(started).toMatchObject({ tier: 1, status: 'running', cause });
  expect(joined).toMatchObject({ tier: 0, status: 'running', cause: null, did_not_return: [] });
  expect(beganAs(raced.lines, 'start_container')).toBe(1);
  expect(beganAs(raced.lines, 'start_session')).toBe(1);
}

/** Of a resume and a purge, in this order, exactly one happened. True: it was purged. */
export function judgeResumeAndPurge(raced: RaceResult, { base }: Instance): boolean {
  const [resumed, purged] = raced.results as [CliResult, CliResult];
  const [, loser] = byCode(raced, [0, 1]);
  const { code, message } = loser.json().error;
  expect(message).toContain(base);
  if (purged.code === 0) {
    expect(['INSTANCE_GONE', 'INSTANCE_NOT_FOUND']).toContain(code);
    expect(beganAs(raced.lines, 'start_container')).toBe(0);
    return true;
  }
  expect(['STATE_CHANGED', 'INSTANCE_BUSY', 'LOCK_HELD']).toContain(code);
  expect(resumed.json().data).toMatchObject({ tier: 1, status: 'running' });
  return false;
}

/** The results ordered by exit code, which must be exactly these. */
export function byCode(raced: RaceResult, codes: [number, number]): [CliResult, CliResult] {
  const sorted = [...raced.results].sort((a, b) => (a.code ?? -1) - (b.code ?? -1));
  const said = raced.results.map(({ stdout, stderr }) => stdout + stderr).join('\n');
  expect({ codes: sorted.map(({ code }) => code), said }).toEqual({ codes, said });
  return sorted as [CliResult, CliResult];
}

export function beganAs(lines: JournalLine[], op: string): number {
  return stepsBegun(lines).filter((step) => step.endsWith(`-${op}`)).length;
}
