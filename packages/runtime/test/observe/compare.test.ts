import { describe, expect, it } from '@jest/globals';
import type { EngineFact, StateFiles } from '../../src/backend.ts';
import { compareBoot, compareEngineRun, engineMatches } from '../../src/observe/compare.ts';
import { newSubject } from '../execute/support/plans.ts';

const { manifest } = newSubject('/project');
const unreachable: EngineFact = { state: 'unreachable', endpoint: 'unix:///e', reason: 'refused' };
const engine = (fields: Partial<Extract<EngineFact, { state: 'reachable' }>> = {}): EngineFact => ({
  state: 'reachable',
  endpoint: 'unix:///e',
  id: 'engine-1',
  run: 'run-1',
  boot_id: 'boot-1',
  ...fields,
});
const noFiles: StateFiles = { exit_record: { state: 'absent' }, heartbeat: { state: 'absent' } };
const heartbeat = (bootId: string): StateFiles => ({
  ...noFiles,
  heartbeat: {
    state: 'present',
    heartbeat: { version: 1, instance_id: 'x', boot_id: bootId, at: '', pid: 1, sessions: [] },
  },
});
const started = (bootId: string) => ({
  ...manifest,
  backend: { standalone: { pid: 1, start_time: '1', boot_id: bootId } },
});
const onEngine = (id: string | null, run: string | null) => ({
  ...manifest,
  engine: { endpoint: 'unix:///e', id, run },
});

describe('whether the engine that answered is the one of the instance', () => {
  it.each([
    ['the same id', onEngine('engine-1', null), engine(), 'yes'],
    ['another id at the same endpoint', onEngine('engine-2', null), engine(), 'no'],
    ['no recorded id at the same endpoint', onEngine(null, null), engine(), 'yes'],
    ['no recorded id at another endpoint', onEngine(null, null), engine({ endpoint: 'tcp://f' }), 'unknown'],
    ['nothing recorded', manifest, engine(), 'unknown'],
    ['an engine that does not answer', onEngine('engine-1', null), unreachable, 'unknown'],
  ] as const)('%s', (_, recorded, found, expected) => {
    expect(engineMatches('docker', recorded, found)).toBe(expected);
  });

  it('is always this host for standalone, unless it cannot be looked at', () => {
    expect(engineMatches('standalone', manifest, engine())).toBe('yes');
    expect(engineMatches('standalone', manifest, unreachable)).toBe('unknown');
  });
});

describe('whether engine run and boot are those of the last start', () => {
  it('compares the run of a docker engine with the recorded one', () => {
    expect(compareEngineRun('docker', onEngine(null, 'run-1'), engine())).toBe('same');
    expect(compareEngineRun('docker', onEngine(null, 'run-0'), engine())).toBe('changed');
    expect(compareEngineRun('docker', onEngine(null, null), engine())).toBe('unknown');
    expect(compareEngineRun('docker', onEngine(null, 'run-1'), engine({ run: null }))).toBe('unknown');
    expect(compareEngineRun('docker', onEngine(null, 'run-1'), unreachable)).toBe('unknown');
  });

  it('takes the boot for the run of a standalone instance', () => {
    expect(compareEngineRun('standalone', started('boot-1'), engine())).toBe('same');
    expect(compareEngineRun('standalone', started('boot-0'), engine())).toBe('changed');
    expect(compareEngineRun('standalone', manifest, engine())).toBe('unknown');
  });

  it('believes our own record before the heartbeat, which the container can forge', () => {
    expect(compareBoot('standalone', started('boot-1'), engine(), heartbeat('boot-0'))).toBe('same');
    const seen = { ...manifest, last_seen: { at: '', boot_id: 'boot-0' } };
    expect(compareBoot('docker', seen, engine(), heartbeat('boot-1'))).toBe('changed');
    expect(compareBoot('docker', manifest, engine(), heartbeat('boot-1'))).toBe('same');
    expect(compareBoot('docker', manifest, engine(), noFiles)).toBe('unknown');
    expect(compareBoot('docker', seen, unreachable, noFiles)).toBe('unknown');
  });
});
