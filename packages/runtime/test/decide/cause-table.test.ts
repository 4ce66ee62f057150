import { describe, expect, test } from '@jest/globals';
import { classifyExit } from '../../src/decide/index.ts';
import { type CauseCase, expectCause } from './cause-row.ts';
import { causeOf, container, ENDED, factsOf, NOW } from './fixtures.ts';

const ASKED = { stop_request: { nonce: 'ours-1234', at: ENDED, grace_ms: 10_000 } };
const CHANGED = { engine_run: 'changed', boot: 'same' } as const;

const CASES: CauseCase[] = [
  {
    title: 'ended by the agent with a clean code is the exit flow with cause clean',
    row: 'agent_clean',
    facts: factsOf('docker', {
      record: { code: 0 },
      observation: { container: container({ exit_code: 0 }) },
    }),
    status: 'clean_exited',
    cause: 'clean',
    code: 0,
    exitFlow: true,
    evidence: ['exit record: ended by agent, code 0', 'exit code 0'],
  },
  {
    title: 'the shell may end with any code and is clean',
    row: 'agent_clean',
    facts: factsOf('standalone', { record: { code: 3 }, clean_exit_codes: 'any' }),
    status: 'clean_exited',
    cause: 'clean',
    code: 3,
    exitFlow: true,
    evidence: ['exit record: ended by agent, code 3'],
  },
  {
    title: 'an agent that ended cleanly before the engine restarted stays clean',
    row: 'agent_clean',
    facts: factsOf('docker', { record: { code: 130 }, ...CHANGED }),
    status: 'clean_exited',
    cause: 'clean',
    code: 130,
    exitFlow: true,
    evidence: ['code 130', 'engine run: changed'],
  },
  {
    title: 'ended by the agent with another code is crashed with cause agent_crash',
    row: 'agent_crash',
    facts: factsOf('docker', {
      record: { code: 3 },
      observation: { container: container({ exit_code: 0 }) },
    }),
    status: 'crashed',
    cause: 'agent_crash',
    code: 3,
    evidence: ['exit record: ended by agent, code 3'],
  },
  {
    title: 'ended by the agent by a signal is crashed with cause agent_crash',
    row: 'agent_crash',
    facts: factsOf('standalone', { record: { signal: 'SIGSEGV' }, clean_exit_codes: 'any' }),
    status: 'crashed',
    cause: 'agent_crash',
    code: null,
    evidence: ['signal SIGSEGV'],
  },
  {
    title: 'ended by our request is the exit flow with cause jackin_stop',
    row: 'jackin_stop',
    facts: factsOf('docker', { manifest: ASKED, record: { ended_by: 'request', nonce: 'ours-1234' } }),
    status: 'clean_exited',
    cause: 'jackin_stop',
    exitFlow: true,
    evidence: ['stop request: ours-1234', 'exit record: ended by request, nonce ours-1234'],
  },
  {
    title: 'our stop that had to use force is jackin_stop without a record',
    row: 'jackin_stop',
    facts: factsOf('standalone', { manifest: ASKED }),
    status: 'clean_exited',
    cause: 'jackin_stop',
    exitFlow: true,
    evidence: ['stop request: ours-1234', 'exit record: none'],
  },
  {
    title: 'an agent killed for memory is crashed with cause oom',
    row: 'oom',
    facts: factsOf('docker', { record: { signal: 'SIGKILL', oom: true } }),
    status: 'crashed',
    cause: 'oom',
    evidence: ['signal SIGKILL', 'OOM kill'],
  },
  {
    title: 'a container killed for memory is crashed with cause oom',
    row: 'oom',
    facts: factsOf('docker', {
      observation: { container: container({ exit_code: 137, oom_flag: true }) },
    }),
    status: 'crashed',
    cause: 'oom',
    code: 137,
    evidence: ['exit code 137', 'engine: OOM flag set'],
  },
  {
    title: 'a setup that failed stays failed_setup with its cause',
    row: 'setup_failed',
    facts: factsOf('docker', {
      manifest: {
        status: 'failed_setup',
        exit_cause: causeOf('setup_failed', { evidence: ['step start_session failed: X'] }),
      },
      observation: { container: { state: 'missing' } },
    }),
    status: 'failed_setup',
    cause: 'setup_failed',
    evidence: ['step start_session failed'],
  },
  {
    title: 'a container that is gone is restore_available and keeps the earlier cause',
    row: 'container_gone',
    facts: factsOf('docker', {
      manifest: {
        status: 'crashed',
        exit_cause: causeOf('agent_crash', { exit_code: 3, evidence: ['x'] }),
      },
      observation: { container: { state: 'missing' } },
    }),
    status: 'restore_available',
    cause: 'agent_crash',
    code: 3,
    evidence: ['x'],
  },
];

describe('the cause table', () => {
  test.each(CASES)('$title', expectCause);

  test('an engine that does not answer leaves the status alone and is shown as engine unreachable', () => {
    const facts = factsOf('docker', {
      engine: { state: 'unreachable', endpoint: 'unix:///a.sock', reason: 'ECONNREFUSED' },
      observation: { container: { state: 'unreachable', reason: 'ECONNREFUSED' } },
    });
    expect(classifyExit(facts, NOW)).toEqual({
      outcome: 'unobservable',
      shown_as: 'engine unreachable',
      reason: 'unix:///a.sock: ECONNREFUSED',
    });
  });

  test('another engine than the one the instance lives on leaves the status alone', () => {
    const facts = factsOf('docker', {
      engine_matches: 'no',
      observation: { container: { state: 'missing' } },
    });
    expect(classifyExit(facts, NOW)).toMatchObject({ outcome: 'unobservable', shown_as: 'other engine' });
  });
});
