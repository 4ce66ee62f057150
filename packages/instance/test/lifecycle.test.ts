import { JackinError } from '@jackin/core';
import { assertTransition, isLegalTransition, isRestorable, STATUSES, type Status } from '@jackin/instance';
import { describe, expect, test } from '@jest/globals';

/** Rows: from; columns: to, in the order of STATUSES. `x` legal, `.` illegal. */
const MATRIX: Record<Status, string> = {
  //                  act run cln crs hst stp dir unp avl fai sup pur
  active: /*         */ 'x   x   x   x   x   x   x   x   x   x   x   x',
  running: /*        */ 'x   x   x   x   x   x   x   x   x   .   x   x',
  clean_exited: /*   */ 'x   x   x   .   .   .   x   x   x   .   x   x',
  crashed: /*        */ 'x   x   x   x   x   .   x   x   x   .   x   x',
  host_lost: /*      */ 'x   x   x   x   x   .   x   x   x   .   x   x',
  stopped: /*        */ 'x   x   x   x   x   x   x   x   x   .   x   x',
  preserved_dirty: /**/ 'x   x   .   .   .   .   x   x   x   .   x   x',
  preserved_unpushed: 'x   x   .   .   .   .   x   x   x   .   x   x',
  restore_available: 'x   x   .   .   .   .   x   x   x   .   x   x',
  failed_setup: /*   */ 'x   x   .   .   .   .   x   x   x   x   x   x',
  superseded: /*     */ '.   .   .   .   .   .   .   .   .   .   x   x',
  purged: /*         */ '.   .   .   .   .   .   x   x   x   .   .   x',
};

describe('status changes', () => {
  const pairs = STATUSES.flatMap((from) =>
    STATUSES.map((to, column) => [from, to, MATRIX[from].split(/\s+/)[column] === 'x'] as const),
  );

  test('the table has all 144 pairs', () => {
    expect(pairs.length).toBe(144);
    for (const row of Object.values(MATRIX)) expect(row.split(/\s+/)).toHaveLength(12);
  });

  test.each(pairs)('%s → %s: %s', (from, to, legal) => {
    expect(isLegalTransition(from, to)).toBe(legal);
    if (legal) return assertTransition(from, to);
    expect(() => assertTransition(from, to)).toThrow(
      expect.objectContaining({ code: 'ILLEGAL_TRANSITION', details: expect.objectContaining({ from, to }) }),
    );
  });

  test.each(STATUSES)('%s can be written again and can be purged', (status) => {
    assertTransition(status, status);
    assertTransition(status, 'purged');
  });

  test('a session that was usable never becomes a failed setup', () => {
    const sources = STATUSES.filter((from) => isLegalTransition(from, 'failed_setup'));
    expect(sources).toEqual(['active', 'failed_setup']);
  });

  test('an illegal change names both statuses and what is legal', () => {
    try {
      assertTransition('superseded', 'running');
    } catch (error) {
      expect(error).toBeInstanceOf(JackinError);
      expect((error as JackinError).message).toMatch(/superseded.*running/);
      expect((error as JackinError).hint).toMatch(/purged/);
      return;
    }
    throw new Error('nothing was thrown');
  });
});

describe('what can be brought back', () => {
  const always: Status[] = [
    'active',
    'running',
    'crashed',
    'stopped',
    'host_lost',
    'preserved_dirty',
    'preserved_unpushed',
    'restore_available',
    'failed_setup',
  ];
  test.each(STATUSES)('%s', (status) => {
    const withData = always.includes(status) || status === 'clean_exited';
    expect(isRestorable({ status }, { dataExists: true })).toBe(withData);
    expect(isRestorable({ status }, { dataExists: false })).toBe(always.includes(status));
  });

  test('whatever can be brought back can become active', () => {
    for (const status of STATUSES) {
      if (isRestorable({ status }, { dataExists: true })) assertTransition(status, 'active');
    }
  });
});
