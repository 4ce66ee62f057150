import { describe, expect, test } from '@jest/globals';
import { CAUSE_TABLE } from '../../src/decide/index.ts';
import { type CauseCase, expectCause } from './cause-row.ts';
import { container, factsOf } from './fixtures.ts';

const CHANGED = { engine_run: 'changed', boot: 'same' } as const;

const CASES: CauseCase[] = [
  {
    title: 'a boot that changed since the start is host_lost with cause host_restart',
    row: 'host_restart',
    facts: factsOf('standalone', { boot: 'changed', engine_run: 'changed' }),
    status: 'host_lost',
    cause: 'host_restart',
    evidence: ['boot id: changed since the last start (boot-a then', 'may have been stopped earlier'],
  },
  {
    title: 'an engine run that changed since the start is host_lost with cause engine_restart',
    row: 'engine_restart',
    facts: factsOf('docker', { ...CHANGED, observation: { container: container({ exit_code: 255 }) } }),
    status: 'host_lost',
    cause: 'engine_restart',
    code: 255,
    evidence: [
      'engine run: changed since the last start (run-a then',
      'exit code 255',
      'may have been stopped earlier',
    ],
  },
  {
    title: 'an orderly engine stop that the capsule saw as a signal is host_lost',
    row: 'engine_restart',
    facts: factsOf('docker', { ...CHANGED, record: { ended_by: 'signal', capsule_signal: 'SIGTERM' } }),
    status: 'host_lost',
    cause: 'engine_restart',
    evidence: ['exit record: ended by signal, signal SIGTERM'],
  },
  {
    title: 'a capsule ended by a signal under the same engine run is stopped with cause stopped_by_other',
    row: 'stopped_by_other',
    facts: factsOf('standalone', { record: { ended_by: 'signal', capsule_signal: 'SIGTERM' } }),
    status: 'stopped',
    cause: 'stopped_by_other',
    evidence: ['exit record: ended by signal, signal SIGTERM', 'engine run: same'],
  },
  {
    title: 'code 143 without a record under the same engine run is stopped_by_other',
    row: 'stopped_by_other',
    facts: factsOf('docker', { observation: { container: container({ exit_code: 143 }) } }),
    status: 'stopped',
    cause: 'stopped_by_other',
    code: 143,
    evidence: ['exit record: none', 'exit code 143'],
  },
  {
    title: 'code 137 without a record under the same engine run is stopped with cause killed',
    row: 'killed',
    facts: factsOf('docker', { observation: { container: container({ exit_code: 137, oom_flag: false }) } }),
    status: 'stopped',
    cause: 'killed',
    code: 137,
    evidence: ['exit record: none', 'exit code 137'],
  },
  {
    title: 'no record and another code under the same engine run is crashed with cause capsule_crash',
    row: 'capsule_crash',
    facts: factsOf('docker', { observation: { container: container({ exit_code: 0 }) } }),
    status: 'crashed',
    cause: 'capsule_crash',
    code: 0,
    evidence: ['exit record: none', 'exit code 0', 'engine run: same'],
  },
  {
    title: 'no record and no observable code under the same boot is crashed with cause capsule_crash',
    row: 'capsule_crash',
    facts: factsOf('standalone'),
    status: 'crashed',
    cause: 'capsule_crash',
    code: null,
    evidence: ['exit code not observable', 'boot id: same', 'heartbeat: last at'],
  },
  {
    title: 'an engine run that cannot be told is stopped with cause unknown and all evidence',
    row: 'unknown',
    facts: factsOf('docker', {
      engine_run: 'unknown',
      observation: { container: container({ exit_code: 137 }) },
    }),
    status: 'stopped',
    cause: 'unknown',
    code: 137,
    evidence: ['engine run: cannot be told', 'boot id: same', 'exit code 137', 'exit record: none'],
  },
  {
    title: 'an exit record that cannot be read is stopped with cause unknown',
    row: 'unknown',
    facts: factsOf('docker', { record: 'unreadable', ...CHANGED }),
    status: 'stopped',
    cause: 'unknown',
    evidence: ['exit record: unreadable (not JSON)', 'engine run: changed'],
  },
  {
    title: 'the OOM flag of a container a power cut ended with 255 is a note',
    row: 'engine_restart',
    facts: factsOf('docker', {
      ...CHANGED,
      observation: { container: container({ exit_code: 255, oom_flag: true }) },
    }),
    status: 'host_lost',
    cause: 'engine_restart',
    code: 255,
    evidence: ['engine: OOM flag set', 'exit code 255'],
  },
  {
    title: 'the OOM flag of a container that was ended by a signal its capsule saw is a note',
    row: 'stopped_by_other',
    facts: factsOf('docker', {
      record: { ended_by: 'signal', signal: 'SIGTERM' },
      observation: { container: container({ exit_code: 137, oom_flag: true }) },
    }),
    status: 'stopped',
    cause: 'stopped_by_other',
    evidence: ['engine: OOM flag set', 'exit record: ended by signal'],
  },
];

describe('the cause table, where the engine run decides', () => {
  test.each(CASES)('$title', expectCause);

  test('the last line fits everything, so every ending has a line', () => {
    const reach = { reach: 'observed', setup_failed: false, container: 'stopped' } as const;
    const nothing = { request_pending: false, oom_flag: false, exit_code: null } as const;
    for (const run of ['same', 'engine_changed', 'host_changed', 'unknown'] as const) {
      for (const record of ['none', 'unreadable', 'signal', 'request', 'agent_other'] as const) {
        expect(CAUSE_TABLE.find((row) => row.matches({ ...reach, ...nothing, run, record }))).toBeDefined();
      }
    }
    expect(CAUSE_TABLE.at(-1)?.id).toBe('unknown');
  });
});
