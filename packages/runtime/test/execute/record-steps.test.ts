import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execute } from '../../src/execute/executor.ts';
import { readAgentConfig } from '../../src/observe/agent-config-file.ts';
import { newSubject, planOf, type Subject } from './support/plans.ts';
import { createScratch, type Scratch } from './support/scratch.ts';

let scratch: Scratch;
let subject: Subject;

beforeEach(async () => {
  scratch = await createScratch();
  subject = newSubject(scratch.workdir);
  await run({ op: 'create_instance', manifest: subject.manifest });
});
afterEach(() => scratch.dispose());

const run = (...steps: Parameters<typeof planOf>[2]) =>
  execute(planOf(subject, 'record', steps), scratch.ports());
const manifest = () => scratch.store.read(subject.base);
const mode = async (path: string) => (await stat(path)).mode & 0o777;

describe('recording a status', () => {
  const cause = {
    kind: 'agent_crash',
    exit_code: 3,
    at: '2026-01-01T00:00:00.000Z',
    evidence: ['code 3'],
  } as const;
  const keep = { intent: 'policy', at: '2026-01-01T00:00:00.000Z' } as const;

  it('writes what the step names and leaves the rest', async () => {
    await run({
      op: 'record_status',
      status: 'crashed',
      exit_cause: { ...cause, evidence: [...cause.evidence] },
      keep,
      last_attach_outcome: 'exit:3',
      stop_request: { nonce: 'nonce-123', at: cause.at },
    });
    await run({ op: 'record_status', status: 'crashed' });
    expect(await manifest()).toMatchObject({
      status: 'crashed',
      exit_cause: cause,
      keep,
      last_attach_outcome: 'exit:3',
      stop_request: { nonce: 'nonce-123' },
    });
  });

  it('clears what the step names as null', async () => {
    await run({ op: 'record_status', status: 'crashed', exit_cause: { ...cause, evidence: [] }, keep });
    await run({
      op: 'record_status',
      status: 'running',
      exit_cause: null,
      keep: null,
      last_attach_outcome: null,
      stop_request: null,
    });
    const after = await manifest();
    expect(after).toMatchObject({ status: 'running', last_attach_outcome: null });
    expect(after).not.toHaveProperty('exit_cause');
    expect(after).not.toHaveProperty('keep');
  });

  it('is refused where the table of transitions says no', async () => {
    await run({ op: 'record_status', status: 'superseded' });
    await expect(run({ op: 'record_status', status: 'running' })).rejects.toMatchObject({
      code: 'ILLEGAL_TRANSITION',
    });
  });
});

describe('making an instance', () => {
  it('makes private directories only', async () => {
    await run({ op: 'prepare_socket_dir' }, { op: 'create_resources', recipe: subject.recipe });
    const place = scratch.paths.instance(subject.base);
    for (const dir of [place.dir, place.meta, place.home, place.state, place.sockets]) {
      expect(await mode(dir)).toBe(0o700);
    }
  });

  it('never takes the place of another one', async () => {
    const other = { ...newSubject(scratch.workdir), base: subject.base };
    const stolen = { ...other.manifest, container_base: subject.base };
    const plan = planOf(other, 'launch', [{ op: 'create_instance', manifest: stolen }]);
    await expect(execute(plan, scratch.ports())).rejects.toMatchObject({ code: 'STATE_CHANGED' });
    expect((await manifest())?.instance_id).toBe(subject.instanceId);
  });
});

describe('the launch configuration of the capsule', () => {
  it('is written with a fresh key each time, for us only', async () => {
    await run({ op: 'write_agent_config', session: subject.session });
    const first = await readAgentConfig(scratch.paths, subject.base);
    expect(first).toMatchObject({
      instance_id: subject.instanceId,
      role: 'shell',
      workdir: scratch.workdir,
      agents: ['shell'],
      session: { agent: 'shell', argv: subject.session.argv },
    });
    expect(first.capsule_key).toMatch(/^[0-9a-f]{64}$/);
    expect(await mode(scratch.paths.instance(subject.base).agentConfig)).toBe(0o600);
    await run({ op: 'write_agent_config', session: null });
    const second = await readAgentConfig(scratch.paths, subject.base);
    expect(second.capsule_key).not.toBe(first.capsule_key);
    expect(second).not.toHaveProperty('session');
  });
});

describe('recording another name of the workspace', () => {
  it('changes the name and the label, and is skipped for an instance of another workspace', async () => {
    const before = await manifest();
    const from = before?.workspace_name ?? 'proj';
    await scratch.store.update(subject.base, (one) => ({ ...one, workspace_name: from }));
    await run({ op: 'record_workspace', name: 'site', from });
    expect(await manifest()).toMatchObject({
      workspace_name: 'site',
      workspace_label: 'site',
      status: before?.status,
      host_workdir_fingerprint: before?.host_workdir_fingerprint,
    });
    const receipt = await run({ op: 'record_workspace', name: 'third', from });
    expect(receipt.steps).toMatchObject([{ state: 'skipped' }]);
    expect(await manifest()).toMatchObject({ workspace_name: 'site' });
  });
});
