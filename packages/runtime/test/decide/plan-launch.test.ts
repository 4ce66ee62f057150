import { derivedNames } from '@jackin/instance';
import { describe, expect, test } from '@jest/globals';
import { decideLaunch, type LaunchInput, planLaunch, planLaunchFailure } from '../../src/decide/index.ts';
import type { CandidateRow, Plan, StepOp } from '../../src/index.ts';
import { BASE, type Backend, CALL, causeOf, manifestOf, NOW, SESSION } from './fixtures.ts';

function launchInput(backend: Backend): LaunchInput {
  const { recipe } = manifestOf(backend);
  if (recipe === undefined) throw new Error('the fixture has a recipe');
  return {
    planId: 'p1',
    now: NOW,
    instanceId: 'k7p9m2xq',
    containerBase: BASE,
    names: derivedNames(BASE),
    workspaceName: 'proj',
    workspaceLabel: 'proj',
    workdir: '/workspace/proj',
    hostWorkdirFingerprint: 'sha256:abc',
    role: { key: 'the-architect', displayName: 'The Architect' },
    supportedAgents: ['claude'],
    recipe,
    session: SESSION,
  };
}

const ops = (plan: Plan) => plan.steps.map((step) => step.op);

describe('a launch', () => {
  test('writes the record before anything is made, and is running only with its session', () => {
    const plan = planLaunch(launchInput('docker'));
    expect(ops(plan)).toEqual([
      'create_instance',
      'prepare_socket_dir',
      'write_agent_config',
      'create_resources',
      'start_container',
      'start_session',
      'record_status',
    ]);
    expect(plan.steps[0]).toMatchObject({
      manifest: { status: 'active', recipe: { agent: { id: 'claude' } }, created_at: NOW },
      requires: [{ fact: 'name_free' }],
    });
    expect(plan.steps.at(-1)).toMatchObject({ status: 'running' });
  });

  test('names a sidecar and its volume only for a recipe that has one', () => {
    const docker = (backend: Backend) => {
      const [first] = planLaunch(launchInput(backend)).steps;
      return first?.op === 'create_instance' ? first.manifest.docker : null;
    };
    expect(docker('docker')).toMatchObject({
      dind_container: `${BASE}-dind`,
      certs_volume: `${BASE}-dind-certs`,
    });
    expect(docker('standalone')).toMatchObject({ dind_container: null, certs_volume: null });
  });
});

describe('a launch that failed', () => {
  const order: StepOp[] = [
    'create_instance',
    'prepare_socket_dir',
    'write_agent_config',
    'create_resources',
    'start_container',
    'start_session',
    'record_status',
  ];
  const failure = (failed: StepOp, backend: Backend = 'docker') =>
    planLaunchFailure({
      ...CALL,
      manifest: manifestOf(backend, { status: 'active' }),
      done: order.slice(0, order.indexOf(failed)),
      failed,
      error: { code: 'AGENT_START_FAILED', message: 'claude was not found' },
      logTail: ['building', '\u001b[31mclaude: not found\u001b[0m'],
    });
  const planOf = (failed: StepOp, backend?: Backend): Plan => {
    const result = failure(failed, backend);
    if (result.outcome !== 'plan') throw new Error(result.outcome);
    return result.plan;
  };

  test('is failed_setup with the step and its log tail', () => {
    expect(planOf('start_session').steps[0]).toMatchObject({
      op: 'record_status',
      status: 'failed_setup',
      exit_cause: causeOf('setup_failed', {
        at: NOW,
        evidence: [
          'step start_session failed: AGENT_START_FAILED: claude was not found',
          'log: building',
          'log: ?[31mclaude: not found?[0m',
        ],
      }),
    });
  });

  test('takes back what it made and nothing else', () => {
    expect(ops(planOf('write_agent_config'))).toEqual(['record_status']);
    expect(ops(planOf('create_resources'))).toEqual([
      'record_status',
      'remove_container',
      'remove_sidecar',
      'remove_volume',
      'remove_network',
    ]);
    expect(ops(planOf('start_session', 'standalone'))).toEqual([
      'record_status',
      'stop_container',
      'end_leftovers',
      'remove_container',
    ]);
  });

  test('never takes home, data, lock or row, and no container that may run', () => {
    for (const failed of order.slice(1, 6)) {
      const { steps } = planOf(failed);
      expect(steps.map(({ op }) => op)).not.toContain('remove_data_dir');
      for (const step of steps.filter(({ op }) => op.startsWith('remove_'))) {
        expect(step.requires).toEqual([{ fact: 'container', in: ['stopped', 'missing'] }]);
      }
    }
  });

  test('leaves no trace when no state exists yet', () => {
    expect(failure('create_instance')).toEqual({ outcome: 'no_trace' });
  });

  test('is no setup failure once a session was usable: a broken attach never is', () => {
    expect(failure('record_status')).toEqual({ outcome: 'not_a_setup_failure' });
    expect(failure('reconnect')).toEqual({ outcome: 'not_a_setup_failure' });
  });
});

describe('resume or start new', () => {
  const row = (id: string): CandidateRow => ({
    instance_id: id,
    container_base: `jk-${id}-proj-r`,
    age: '2h ago',
    what: 'running',
    readiness: 'ready',
    exit_pending: false,
  });
  const choose = (
    request: Parameters<typeof decideLaunch>[0]['request'],
    candidates: CandidateRow[],
    canAsk = false,
  ) => decideLaunch({ candidates, request, canAsk, invocation: 'jackin load shell /srv/app' });

  test('without a candidate a plain launch starts new', () => {
    expect(choose(null, [])).toEqual({ action: 'new' });
  });

  test('with a candidate a terminal asks', () => {
    expect(choose(null, [row('a')], true)).toEqual({ action: 'choose', candidates: [row('a')] });
  });

  test('with a candidate and nobody to ask the candidates and both commands are named, exit code 3', () => {
    expect(() => choose(null, [row('a')])).toThrow(
      expect.objectContaining({
        code: 'DECISION_NEEDED',
        exitCode: 3,
        details: {
          candidates: [row('a')],
          commands: ['jackin load shell /srv/app --instance a', 'jackin load shell /srv/app --new'],
        },
      }),
    );
  });

  test('a flag decides without asking', () => {
    expect(choose('new', [row('a')], true)).toEqual({ action: 'new' });
    expect(choose('newest', [row('b'), row('a')], true)).toEqual({ action: 'resume', instance_id: 'b' });
    expect(choose({ instance: 'a' }, [row('b'), row('a')])).toEqual({ action: 'resume', instance_id: 'a' });
  });

  test('a flag that fits no candidate is an error and starts nothing', () => {
    expect(() => choose('newest', [])).toThrow(expect.objectContaining({ code: 'NO_CANDIDATE' }));
    expect(() => choose({ instance: 'z' }, [row('a')])).toThrow(
      expect.objectContaining({ code: 'NO_CANDIDATE' }),
    );
  });
});
