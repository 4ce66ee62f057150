import { describe, expect, test } from '@jest/globals';
import { classifyExit } from '../../src/decide/index.ts';
import { causeOf, container, ENDED, type FactChange, factsOf, NOW } from './fixtures.ts';

const look = (backend: 'docker' | 'standalone', change: FactChange) =>
  classifyExit(factsOf(backend, change), NOW);
const GONE = { container: { state: 'missing' } } as const;

describe('what was recorded before', () => {
  const crash = causeOf('agent_crash', { exit_code: 3, evidence: ['code 3'] });

  test('a stop that was seen before the engine restarted stays a stop', () => {
    const exit_cause = causeOf('stopped_by_other', { exit_code: 143, evidence: ['143'] });
    const seen = look('docker', {
      manifest: { status: 'stopped', exit_cause },
      engine_run: 'changed',
      observation: { container: container({ exit_code: 143 }) },
    });
    expect(seen).toMatchObject({
      status: 'stopped',
      cause: causeOf('stopped_by_other', { evidence: ['143'] }),
    });
  });

  test('an unknown cause gives way to the record that can be read later', () => {
    const exit_cause = causeOf('unknown', { evidence: ['unreadable'] });
    const seen = look('docker', { manifest: { status: 'stopped', exit_cause }, record: { code: 3 } });
    expect(seen).toMatchObject({ status: 'crashed', cause: { kind: 'agent_crash', exit_code: 3 } });
  });

  test('a cause from before the session was resumed does not explain its new end', () => {
    const exit_cause = { ...crash, at: '2026-03-01T08:00:00.000Z' };
    const seen = look('standalone', { manifest: { status: 'active', exit_cause }, boot: 'changed' });
    expect(seen).toMatchObject({ status: 'host_lost', cause: { kind: 'host_restart' } });
  });

  test('a resume that was interrupted before an agent ran leaves the recorded cause', () => {
    const seen = look('docker', { manifest: { status: 'active', exit_cause: crash }, observation: GONE });
    expect(seen).toMatchObject({ status: 'restore_available', cause: { kind: 'agent_crash' } });
  });

  test('a kept instance stays kept, with or without its container', () => {
    for (const observation of [GONE, { container: container({ exit_code: 0 }) }]) {
      const seen = look('docker', {
        manifest: { status: 'preserved_unpushed' },
        record: { code: 0 },
        observation,
      });
      expect(seen).toMatchObject({
        status: 'preserved_unpushed',
        exit_flow: false,
        cause: { kind: 'clean' },
      });
    }
  });

  test('a decision to keep survives an interruption although the status says running', () => {
    const keep = { intent: 'operator', at: ENDED } as const;
    const seen = look('docker', { manifest: { status: 'running', keep }, record: { code: 0 } });
    expect(seen).toMatchObject({ status: 'restore_available', exit_flow: false });
  });

  test('a decision to keep is over once an agent was alive again', () => {
    const keep = { intent: 'operator', at: '2026-03-01T08:00:00.000Z' } as const;
    const seen = look('docker', { manifest: { status: 'active', keep }, record: { code: 0 } });
    expect(seen).toMatchObject({ status: 'clean_exited', exit_flow: true });
  });

  test('superseded and purged are final', () => {
    for (const status of ['superseded', 'purged'] as const) {
      expect(look('docker', { manifest: { status }, record: { code: 0 } })).toMatchObject({
        status,
        exit_flow: false,
      });
    }
  });

  test('a container that is gone still has the cause its own record tells', () => {
    const seen = look('docker', { record: { code: 3 }, observation: GONE });
    expect(seen).toMatchObject({ status: 'restore_available', cause: { kind: 'agent_crash', exit_code: 3 } });
  });

  test('a container that is gone without any cause has none', () => {
    expect(look('docker', { observation: GONE })).toMatchObject({ status: 'restore_available', cause: null });
  });
});
