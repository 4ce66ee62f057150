import { describe, expect, test } from '@jest/globals';
import {
  classifyExit,
  describeInstance,
  interruptedByHostLoss,
  planReconcile,
} from '../../src/decide/index.ts';
import { docker, exitWith, GONE, restore } from './field-report.ts';
import { answers, CALL, causeOf, container, NOW, RUNNING } from './fixtures.ts';

describe('field reports about endings and engines', () => {
  test('O24: nothing is cleaned up while another attached session is alive, or may be', () => {
    const first = classifyExit(docker({ record: { code: 0 } }), NOW);
    expect(exitWith(first, 'yes')).toMatchObject({ action: 'leave_running' });
    expect(exitWith(first, 'unknown')).toMatchObject({ action: 'leave_running' });
    const both = classifyExit(
      docker({ observation: { container: RUNNING }, capsule: answers(false, true) }),
      NOW,
    );
    expect(exitWith(both)).toMatchObject({ action: 'leave_running' });
  });

  test('O40: exit code 0 after a hard reboot is no clean exit, and the clean policy does not apply', () => {
    const facts = docker({ engine_run: 'changed', observation: { container: container({ exit_code: 0 }) } });
    const seen = classifyExit(facts, NOW);
    expect(seen).toMatchObject({
      clean: false,
      status: 'host_lost',
      cause: { kind: 'engine_restart', exit_code: 0 },
    });
    expect(exitWith(seen)).toMatchObject({ action: 'record', status: 'host_lost' });
    const plans = planReconcile({ ...CALL, facts: [facts], indexState: 'ok' });
    expect(plans[0]?.steps).toMatchObject([{ op: 'record_status', status: 'host_lost' }]);
  });

  test('O41: exit code 255 after an engine loss is interrupted, not an agent crash, and resumes as tier 1', () => {
    const facts = docker({
      engine_run: 'changed',
      boot: 'changed',
      observation: { container: container({ exit_code: 255 }) },
    });
    const seen = describeInstance(facts, NOW);
    expect(seen).toMatchObject({ status: 'host_lost', cause: 'host_restart' });
    expect(seen.evidence.join()).toContain('exit code 255');
    expect(restore(facts)).toMatchObject({ outcome: 'plan', plan: { tier: 1 } });
  });

  test('O42: the OOM flag on a running container is a note, and so it is on a cleanly ended one', () => {
    const running = docker({
      observation: { container: { ...RUNNING, oom_flag: true } as never },
      capsule: answers(true),
    });
    expect(classifyExit(running, NOW)).toEqual({ outcome: 'alive', agent: 'alive' });
    expect(describeInstance(running, NOW).evidence).toContain(
      'note: the OOM flag is set on a running container',
    );
    const ended = docker({
      record: { code: 0, oom_note: true },
      observation: { container: container({ exit_code: 0, oom_flag: true }) },
    });
    const seen = classifyExit(ended, NOW);
    expect(seen).toMatchObject({ clean: true, cause: { kind: 'clean' } });
    expect(JSON.stringify(seen)).toContain('a child was OOM-killed');
  });

  test('O52: with another engine, or none, nothing is marked gone and nothing is removed', () => {
    const other = docker({ engine_matches: 'no', observation: GONE });
    const none = docker({
      engine: { state: 'unreachable', endpoint: 'unix:///b.sock', reason: 'ENOENT' },
      engine_matches: 'unknown',
      observation: { container: { state: 'unreachable', reason: 'ENOENT' } },
    });
    expect(planReconcile({ ...CALL, facts: [other, none], indexState: 'ok' })).toEqual([]);
    expect([other, none].map((facts) => describeInstance(facts, NOW).container)).toEqual([
      'other engine',
      'engine unreachable',
    ]);
    expect(describeInstance(other, NOW).evidence[0]).toContain('unix:///a.sock');
  });

  test('O53: a resume while the engine is down changes nothing, and works once it is back', () => {
    const engine = { state: 'unreachable', endpoint: 'unix:///a.sock', reason: 'ECONNREFUSED' } as const;
    const down = docker({
      engine,
      observation: { container: { state: 'unreachable', reason: 'ECONNREFUSED' } },
    });
    expect(restore(down)).toMatchObject({ outcome: 'blocked', error: { code: 'ENGINE_UNREACHABLE' } });
    expect(restore(docker({}))).toMatchObject({ outcome: 'plan', plan: { tier: 1 } });
  });

  test('O84: after a sleep that was followed by a kill, status and resume stand on what the host has', () => {
    const facts = docker({
      manifest: { status: 'running' },
      observation: { container: container({ exit_code: 137 }) },
    });
    expect(describeInstance(facts, NOW)).toMatchObject({
      status: 'stopped',
      cause: 'killed',
      exit_pending: false,
    });
    expect(restore(facts)).toMatchObject({
      outcome: 'plan',
      plan: { tier: 1, returns: expect.arrayContaining(['home', 'working_tree']) },
    });
  });

  test('O85: after an engine restart the interrupted one is listed, the stopped one stays stopped', () => {
    const interrupted = docker({ engine_run: 'changed' });
    const exit_cause = causeOf('stopped_by_other', { at: NOW, evidence: ['code 143'] });
    const stopped = docker({ engine_run: 'changed', manifest: { status: 'stopped', exit_cause } });
    const lost = docker({ engine_run: 'changed', manifest: { status: 'superseded' } });
    const all = [interrupted, stopped, lost];
    expect(all.map((facts) => describeInstance(facts, NOW).status)).toEqual([
      'host_lost',
      'stopped',
      'superseded',
    ]);
    expect(interruptedByHostLoss(all, NOW)).toEqual([interrupted]);
    expect(restore(lost)).toMatchObject({ outcome: 'blocked', error: { code: 'INSTANCE_NOT_RESTORABLE' } });
  });
});
