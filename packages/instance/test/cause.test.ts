import { CAUSE_KINDS, type CauseKind, causeStrength, type ExitCause, mergeCause } from '@jackin/instance';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

/** Strongest first. */
const ORDER: CauseKind[][] = [
  ['clean', 'jackin_stop', 'agent_crash', 'oom', 'setup_failed'],
  ['engine_restart', 'host_restart'],
  ['stopped_by_other', 'killed', 'capsule_crash'],
  ['unknown'],
];
const rank = (kind: CauseKind) => ORDER.findIndex((kinds) => kinds.includes(kind));
const cause = (kind: CauseKind, evidence: string[] = [], exit_code: number | null = null): ExitCause => ({
  kind,
  exit_code,
  at: '2026-08-01T10:00:00Z',
  evidence,
});
const anyCause = fc
  .record({
    kind: fc.constantFrom(...CAUSE_KINDS),
    evidence: fc.array(fc.constantFrom('a', 'b', 'c', 'd')),
    code: fc.option(fc.nat(255)),
  })
  .map(({ kind, evidence, code }) => cause(kind, evidence, code));

describe('mergeCause', () => {
  test('every cause has a place in the order', () => {
    expect(ORDER.flat().sort()).toEqual([...CAUSE_KINDS].sort());
  });

  test.each(CAUSE_KINDS.flatMap((old) => CAUSE_KINDS.map((next) => [old, next] as const)))(
    'recorded %s, now seen %s',
    (old, next) => {
      const expected = rank(next) < rank(old) ? next : old;
      expect(mergeCause(cause(old), cause(next)).kind).toBe(expected);
    },
  );

  test('with nothing recorded the new cause is recorded as it is', () => {
    const next = cause('killed', ['137']);
    expect(mergeCause(null, next)).toBe(next);
    expect(mergeCause(undefined, next)).toBe(next);
  });

  test('a replaced cause leaves its evidence behind', () => {
    const merged = mergeCause(
      cause('killed', ['exit code 137', 'no record']),
      cause('oom', ['oom_kill 1', 'no record']),
    );
    expect(merged.evidence).toEqual(['oom_kill 1', 'no record', 'exit code 137']);
  });

  test('an exit code that became known is added, another one is not', () => {
    expect(mergeCause(cause('capsule_crash'), cause('capsule_crash', [], 3)).exit_code).toBe(3);
    expect(mergeCause(cause('capsule_crash', [], 3), cause('capsule_crash', [], 4)).exit_code).toBe(3);
    expect(mergeCause(cause('killed'), cause('capsule_crash', [], 4)).exit_code).toBeNull();
  });

  test('strength never falls, and looking again changes nothing', () => {
    fc.assert(
      fc.property(anyCause, fc.array(anyCause), (first, more) => {
        let current = first;
        for (const next of more) {
          const merged = mergeCause(current, next);
          expect(causeStrength(merged.kind)).toBeGreaterThanOrEqual(causeStrength(current.kind));
          expect(mergeCause(merged, next)).toBe(merged);
          current = merged;
        }
      }),
    );
  });
});
