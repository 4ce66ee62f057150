import { describe, expect, test } from '@jest/globals';
import { decideExit, type Ended, type ExitInput } from '../../src/decide/index.ts';
import type { IsolatedMountFact } from '../../src/index.ts';
import { causeOf, OWNER } from './fixtures.ts';

const CLEAN_END: Ended = {
  outcome: 'ended',
  clean: true,
  status: 'clean_exited',
  cause: causeOf('clean', { exit_code: 0 }),
  exit_flow: true,
  last_attach_outcome: 'exit:0',
};

const mount = (verdict: IsolatedMountFact['verdict']): IsolatedMountFact => ({
  mount_dst: `/workspace/${verdict}`,
  kind: 'worktree',
  path: `/data/${verdict}`,
  verdict,
  reason: `because ${verdict}`,
});

const decide = (change: Partial<ExitInput>) =>
  decideExit({
    classification: CLEAN_END,
    policy: { value: 'ask', source: 'default' },
    canAsk: true,
    isolated: [],
    otherSessionsAlive: 'no',
    choice: null,
    ...change,
  });

const ask = { value: 'ask', source: 'default' } as const;
const keep = { value: 'keep', source: 'workspace' } as const;
const clean = { value: 'clean', source: 'global' } as const;
const flagKeep = { value: 'keep', source: 'flag' } as const;
const flagClean = { value: 'clean', source: 'flag' } as const;

describe('a clean end, by policy, mounts and terminal', () => {
  test.each([
    ['ask, shared mounts only', ask, [], true, 'clean', null],
    ['ask, shared mounts only, no terminal', ask, [], false, 'clean', null],
    ['ask, all clean', ask, ['clean'], true, 'clean', null],
    ['ask, dirty', ask, ['clean', 'dirty'], true, 'ask', null],
    ['ask, unpushed', ask, ['unpushed'], true, 'ask', null],
    ['ask, unknown', ask, ['unknown'], true, 'ask', null],
    ['ask, dirty, no terminal', ask, ['dirty'], false, 'keep', 'could_not_ask'],
    ['ask, unpushed, no terminal', ask, ['unpushed'], false, 'keep', 'could_not_ask'],
    ['ask, unknown, no terminal', ask, ['unknown'], false, 'keep', 'could_not_ask'],
    ['keep, shared mounts only', keep, [], true, 'keep', 'policy'],
    ['keep, dirty, no terminal', keep, ['dirty'], false, 'keep', 'policy'],
    ['clean, shared mounts only', clean, [], true, 'clean', null],
    ['clean, dirty', clean, ['dirty'], true, 'clean', null],
    ['clean, unpushed, no terminal', clean, ['unpushed'], false, 'clean', null],
    ['clean, unknown', clean, ['unknown'], true, 'keep', 'could_not_ask'],
    ['--keep, shared mounts only', flagKeep, [], false, 'keep', 'operator'],
    ['--keep, dirty', flagKeep, ['dirty'], true, 'keep', 'operator'],
    ['--clean, dirty, no terminal', flagClean, ['dirty'], false, 'clean', null],
    ['--clean, unknown', flagClean, ['clean', 'unknown'], true, 'keep', 'could_not_ask'],
  ] as const)('%s', (_title, policy, verdicts, canAsk, action, intent) => {
    const decision = decide({ policy, canAsk, isolated: verdicts.map(mount) });
    expect(decision.action).toBe(action);
    expect(decision.action === 'keep' ? decision.intent : null).toBe(intent);
  });

  test('a clean-up that was interrupted is finished, unless the policy is to keep', () => {
    const classification: Ended = { ...CLEAN_END, clean: false, status: 'purged', exit_flow: false };
    for (const policy of [ask, clean, flagClean]) {
      expect(decide({ classification, policy, isolated: [mount('unknown')] })).toEqual({
        action: 'clean',
        reason: 'its clean-up had begun',
      });
    }
    for (const policy of [keep, flagKeep]) {
      expect(decide({ classification, policy })).toMatchObject({ action: 'record', status: 'purged' });
    }
    expect(decide({ classification, otherSessionsAlive: 'yes' }).action).toBe('leave_running');
  });

  test('the question lists what is not clean and nothing else', () => {
    const decision = decide({ isolated: ['clean', 'dirty', 'unknown'].map((v) => mount(v as 'clean')) });
    expect(decision).toEqual({
      action: 'ask',
      unfinished: [mount('dirty'), mount('unknown')],
      reason: '2 isolated mounts have unfinished work.',
    });
  });

  test('the answer of the operator decides', () => {
    const isolated = [mount('dirty')];
    expect(decide({ isolated, choice: 'keep' })).toMatchObject({ action: 'keep', intent: 'operator' });
    expect(decide({ isolated, choice: 'clean' })).toEqual({
      action: 'clean',
      reason: 'the operator chose to clean it up',
    });
    expect(decide({ isolated, choice: 'keep', policy: clean })).toMatchObject({ action: 'keep' });
  });

  test('a tree nobody could look at is kept with its reason even when the operator insists', () => {
    for (const change of [{ choice: 'clean' }, { policy: clean }, { policy: flagClean }] as const) {
      expect(decide({ isolated: [mount('unknown')], ...change })).toEqual({
        action: 'keep',
        intent: 'could_not_ask',
        status: 'preserved_dirty',
        reason: '/workspace/unknown could not be assessed: because unknown',
      });
    }
  });

  test.each([
    [['clean'], 'restore_available'],
    [[], 'restore_available'],
    [['unpushed', 'clean'], 'preserved_unpushed'],
    [['unpushed', 'dirty'], 'preserved_dirty'],
    [['unknown', 'unpushed'], 'preserved_dirty'],
  ] as const)('kept with %j it is %s', (verdicts, status) => {
    expect(decide({ policy: keep, isolated: verdicts.map(mount) })).toMatchObject({ status });
  });
});

describe('no clean end', () => {
  test('is recorded and kept, whatever policy, flag or answer say', () => {
    const cause = causeOf('agent_crash', { exit_code: 3 });
    const crashed: Ended = { ...CLEAN_END, clean: false, exit_flow: false, status: 'crashed', cause };
    for (const policy of [ask, keep, clean, flagKeep, flagClean]) {
      for (const choice of [null, 'keep', 'clean'] as const) {
        expect(decide({ classification: crashed, policy, choice })).toEqual({
          action: 'record',
          status: 'crashed',
          cause,
        });
      }
    }
  });

  test('a clean end that was decided before is only recorded', () => {
    const kept: Ended = { ...CLEAN_END, exit_flow: false, status: 'restore_available' };
    expect(decide({ classification: kept, policy: flagClean })).toMatchObject({ action: 'record' });
  });
});

describe('leave it running', () => {
  test.each([
    ['another session is alive', { otherSessionsAlive: 'yes' }],
    ['other sessions may be alive', { otherSessionsAlive: 'unknown' }],
    ['an agent is alive', { classification: { outcome: 'alive', agent: 'alive' } }],
    ['whether an agent is alive is not known', { classification: { outcome: 'alive', agent: 'unknown' } }],
    [
      'engine unreachable: no answer',
      { classification: { outcome: 'unobservable', shown_as: 'engine unreachable', reason: 'no answer' } },
    ],
    ['process 99 works on it (load)', { classification: { outcome: 'launching', owner: OWNER } }],
  ] as const)('%s', (reason, change) => {
    expect(decide({ policy: flagClean, choice: 'clean', ...change })).toEqual({
      action: 'leave_running',
      reason,
    });
  });
});
