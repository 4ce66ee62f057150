import { describe, expect, it } from '@jest/globals';
import type { CapsuleFact, ContainerFact } from '../../src/backend.ts';
import { evaluatePrecondition } from '../../src/execute/preconditions.ts';
import type { InstanceFacts } from '../../src/facts.ts';
import type { Precondition } from '../../src/plan.ts';
import { newSubject } from './support/plans.ts';

const running: ContainerFact = {
  state: 'running',
  name: 'c',
  engine_ref: '1',
  image_id: null,
  oom_flag: null,
  started_run: null,
};
const stopped: ContainerFact = {
  state: 'stopped',
  name: 'c',
  engine_ref: '1',
  image_id: null,
  exit_code: null,
  oom_flag: null,
  error: null,
  startable: { ok: true },
};
const missing: ContainerFact = { state: 'missing' };
const unreachable: ContainerFact = { state: 'unreachable', reason: 'refused' };
const foreign: ContainerFact = { state: 'foreign', name: 'c' };

function factsWith(container: ContainerFact, capsule: CapsuleFact, more: Partial<InstanceFacts> = {}) {
  const { manifest, instanceId, base } = newSubject('/project');
  return {
    instance_id: instanceId,
    container_base: base,
    manifest,
    observation: { container },
    capsule,
    data_dir: 'yes',
    isolated: [],
    image_heir: null,
    ...more,
  } as unknown as InstanceFacts;
}
const silent: CapsuleFact = { state: 'silent', reason: 'refused' };
const sessions = (...alive: boolean[]): CapsuleFact => ({
  state: 'answers',
  clients: 0,
  sessions: alive.map((one, at) => ({ session_id: `s${at}`, agent: 'shell', alive: one })),
});
const holds = (precondition: Precondition, facts: InstanceFacts | null, onDisk = true) =>
  evaluatePrecondition(precondition, { facts, onDisk, rowStatus: null }).holds;

describe('a precondition is held against fresh facts', () => {
  it('compares the container, and nothing uncertain satisfies it', () => {
    const any: Precondition = { fact: 'container', in: ['running', 'stopped', 'missing'] };
    expect(holds(any, factsWith(running, silent))).toBe(true);
    expect(holds(any, factsWith(unreachable, silent))).toBe(false);
    expect(holds(any, factsWith(foreign, silent))).toBe(false);
    expect(holds(any, null)).toBe(false);
    expect(holds({ fact: 'container', in: ['stopped'] }, factsWith(running, silent))).toBe(false);
  });

  it('believes that no agent is alive only with proof', () => {
    const fact: Precondition = { fact: 'no_agent_alive' };
    expect(holds(fact, factsWith(stopped, silent))).toBe(true);
    expect(holds(fact, factsWith(missing, silent))).toBe(true);
    expect(holds(fact, factsWith(running, sessions(false, false)))).toBe(true);
    expect(holds(fact, factsWith(running, sessions(false, true)))).toBe(false);
    expect(holds(fact, factsWith(running, silent))).toBe(false);
    expect(holds(fact, factsWith(running, { state: 'unknown', reason: '' }))).toBe(false);
    expect(holds(fact, factsWith(unreachable, silent))).toBe(false);
    expect(holds(fact, null)).toBe(false);
  });

  it('wants the verdicts of exactly the same isolated mounts', () => {
    const mount = { mount_dst: '/w', kind: 'clone', path: '/p', verdict: 'clean', reason: '' } as const;
    const facts = factsWith(stopped, silent, { isolated: [mount] });
    expect(holds({ fact: 'isolated', verdicts: { '/w': 'clean' } }, facts)).toBe(true);
    expect(holds({ fact: 'isolated', verdicts: { '/w': 'dirty' } }, facts)).toBe(false);
    expect(holds({ fact: 'isolated', verdicts: {} }, facts)).toBe(false);
    expect(holds({ fact: 'isolated', verdicts: { '/w': 'clean', '/x': 'clean' } }, facts)).toBe(false);
  });

  it('wants what was found in them to be the same, too', () => {
    const assessment = {
      path: '/w',
      kind: 'worktree' as const,
      verdict: 'dirty' as const,
      reason: '1 file uncommitted',
      evidence: null,
      fingerprint: 'one',
      git_processes: 3,
    };
    const mount = {
      mount_dst: '/w',
      kind: 'worktree' as const,
      path: '/w',
      verdict: 'dirty' as const,
      reason: '',
    };
    const facts = factsWith(stopped, silent, { isolated: [{ ...mount, assessment }] });
    const wants = (fingerprint: string) =>
      holds({ fact: 'isolated', verdicts: { '/w': 'dirty' }, fingerprints: { '/w': fingerprint } }, facts);
    expect([wants('one'), wants('two')]).toEqual([true, false]);
    const unseen = factsWith(stopped, silent, { isolated: [mount] });
    expect(
      holds({ fact: 'isolated', verdicts: { '/w': 'dirty' }, fingerprints: { '/w': 'one' } }, unseen),
    ).toBe(false);
  });

  it('reads the status from the manifest, then from the row; an instance without both is purged', () => {
    const facts = factsWith(stopped, silent);
    const active: Precondition = { fact: 'status', in: ['active'] };
    expect(holds(active, facts)).toBe(true);
    expect(holds(active, facts, false)).toBe(false);
    const gone = { facts, onDisk: false, rowStatus: null };
    expect(evaluatePrecondition({ fact: 'status', in: ['purged'] }, gone).holds).toBe(true);
    expect(evaluatePrecondition(active, { ...gone, rowStatus: 'active' }).holds).toBe(true);
  });

  it('calls a name free when nothing is there, or all of it is ours', () => {
    const fact: Precondition = { fact: 'name_free' };
    expect(holds(fact, factsWith(missing, silent, { data_dir: 'no' }), false)).toBe(true);
    expect(holds(fact, factsWith(missing, silent), true)).toBe(true);
    expect(holds(fact, factsWith(missing, silent, { data_dir: 'yes' }), false)).toBe(false);
    expect(holds(fact, factsWith(missing, silent, { data_dir: 'unknown' }), false)).toBe(false);
    expect(holds(fact, factsWith(foreign, silent, { data_dir: 'no' }), false)).toBe(false);
    expect(holds(fact, factsWith(unreachable, silent, { data_dir: 'no' }), false)).toBe(false);
  });
});
