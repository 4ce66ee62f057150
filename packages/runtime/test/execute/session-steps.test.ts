import { on } from 'node:events';
import { watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JackinError } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execute } from '../../src/execute/executor.ts';
import { launchPlan, mustObserve, restorePlan, stopPlan } from './support/decisions.ts';
import { newSubject, planOf, type Subject } from './support/plans.ts';
import { createScratch, killInstance, type Scratch } from './support/scratch.ts';

let scratch: Scratch;

beforeEach(async () => {
  scratch = await createScratch();
});
afterEach(() => scratch.dispose());

/** A session that writes its environment and working directory into its home, then waits. */
const TELLING = [
  '/bin/sh',
  '-c',
  'env > "$HOME/env.part"; pwd >> "$HOME/env.part"; mv "$HOME/env.part" "$HOME/env"; exec sleep 1000',
];

async function fileOf(subject: Subject): Promise<string> {
  const { home } = scratch.paths.instance(subject.base);
  const watcher = watch(home);
  try {
    const changes = on(watcher, 'change', { signal: AbortSignal.timeout(10_000) });
    while (!(await readdir(home)).includes('env')) await changes.next();
    return await readFile(join(home, 'env'), 'utf8');
  } finally {
    watcher.close();
  }
}

describe('starting a session', () => {
  it('gives the agent the home of the instance, its variables and the project', async () => {
    const env = [{ name: 'TOKEN', source: 'literal:s3cret-value' }];
    const subject = newSubject(scratch.workdir, { argv: TELLING, env });
    const receipt = await execute(launchPlan(subject), scratch.ports());
    expect(receipt.session).toMatchObject({ session_id: subject.session.session_id, alive: true });
    const told = (await fileOf(subject)).trim().split('\n');
    expect(told).toContain(`HOME=${scratch.paths.instance(subject.base).home}`);
    expect(told).toContain('TOKEN=s3cret-value');
    expect(told).toContain(`JACKIN_INSTANCE=${subject.instanceId}`);
    expect(told.at(-1)).toBe(scratch.workdir);
    expect(told.join('\n')).not.toContain('NODE_OPTIONS');

    const { manifest } = await mustObserve(scratch, subject);
    expect(manifest.sessions).toMatchObject([
      { session_id: subject.session.session_id, agent_runtime: 'shell', status: 'running' },
    ]);
  });

  it('keeps resolved secrets out of everything jackin writes', async () => {
    const env = [{ name: 'TOKEN', source: 'literal:s3cret-value' }];
    const subject = newSubject(scratch.workdir, { env });
    const hidden = async () => ({ TOKEN: 'resolved-s3cret' });
    await execute(launchPlan(subject), scratch.ports({ resolveEnv: hidden }));
    for (const name of await readdir(scratch.paths.homeDir, { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      const text = await readFile(join(name.parentPath, name.name), 'latin1');
      expect(text.includes('resolved-s3cret')).toBe(false);
    }
    expect(JSON.stringify(scratch.events)).not.toContain('resolved-s3cret');
  });

  it('starts the same session once, however often the plan is executed', async () => {
    const subject = newSubject(scratch.workdir);
    const plan = launchPlan(subject);
    const first = await execute(plan, scratch.ports());
    const again = await execute(plan, scratch.ports());
    expect(again.session).toMatchObject({ pid: first.session?.pid });
    const skipped = again.steps.filter(({ state }) => state === 'skipped').map(({ op }) => op);
    expect(skipped).toEqual(['create_instance', 'write_agent_config', 'create_resources', 'start_session']);
    expect((await mustObserve(scratch, subject)).capsule).toMatchObject({ sessions: [{ alive: true }] });
  });

  it('lists only what still runs as running: a second session does, what an earlier capsule ran does not', async () => {
    const subject = newSubject(scratch.workdir);
    await execute(launchPlan(subject), scratch.ports());
    const second = { ...subject.session, session_id: 'ssecond' };
    const step = { op: 'start_session', session: second, recipe: subject.recipe } as const;
    await execute(planOf(subject, 'restore', [step]), scratch.ports());
    const statuses = async () =>
      (await mustObserve(scratch, subject)).manifest.sessions.map(({ status }) => status);
    expect(await statuses()).toEqual(['running', 'running']);

    await killInstance(subject.instanceId);
    await execute(restorePlan(await mustObserve(scratch, subject), subject), scratch.ports());
    expect(await statuses()).toEqual(['ended', 'ended', 'running']);
  });

  it('names the living session when there is only something to connect to', async () => {
    const subject = newSubject(scratch.workdir);
    await execute(launchPlan(subject), scratch.ports());
    const receipt = await execute(planOf(subject, 'restore', [{ op: 'reconnect' }]), scratch.ports());
    expect(receipt.session?.session_id).toBe(subject.session.session_id);
  });

  it('says how to install an agent that is not there', async () => {
    const subject = newSubject(scratch.workdir, { argv: ['no-such-agent', '--flag'] });
    subject.session.agent = 'claude';
    const failure = (await execute(launchPlan(subject), scratch.ports()).catch(
      (error) => error,
    )) as JackinError;
    expect(failure).toMatchObject({
      code: 'AGENT_START_FAILED',
      message: expect.stringContaining('no-such-agent was not found on this host'),
      hint: expect.stringContaining('claude'),
    });
  });

  it('passes on why else the capsule could not start it, with a way on', async () => {
    const subject = newSubject(scratch.workdir);
    subject.session.cwd = join(scratch.root, 'nowhere');
    await expect(execute(launchPlan(subject), scratch.ports())).rejects.toMatchObject({
      code: 'WORKDIR_NOT_FOUND',
      message: expect.stringContaining(subject.session.cwd),
      hint: expect.stringContaining('jackin status'),
    });
  });

  it('passes on which variable cannot be resolved, before anything runs', async () => {
    const subject = newSubject(scratch.workdir, { env: [{ name: 'TOKEN', source: '$NOWHERE' }] });
    const error = new JackinError({ code: 'ENV_UNRESOLVED', message: 'TOKEN is not set' });
    const ports = scratch.ports({ resolveEnv: () => Promise.reject(error) });
    await expect(execute(launchPlan(subject), ports)).rejects.toMatchObject({
      code: 'ENV_UNRESOLVED',
      details: { failed_step: { op: 'start_session' } },
    });
    expect((await mustObserve(scratch, subject)).capsule).toMatchObject({ state: 'answers', sessions: [] });
  });
});

describe('stopping an instance', () => {
  it('leaves a request on disk that the exit record repeats', async () => {
    const subject = newSubject(scratch.workdir);
    await execute(launchPlan(subject), scratch.ports());
    const plan = stopPlan(await mustObserve(scratch, subject));
    const receipt = await execute(plan, scratch.ports());
    expect(receipt.steps).toMatchObject([{ op: 'stop_container', state: 'done', detail: null }, {}]);
    const { manifest, state_files: files, observation } = await mustObserve(scratch, subject);
    const nonce = plan.steps[0]?.op === 'stop_container' ? plan.steps[0].nonce : null;
    expect(manifest.stop_request).toMatchObject({ nonce });
    expect(files.exit_record).toMatchObject({ record: { ended_by: 'request', nonce } });
    expect(observation).toMatchObject({ container: { state: 'stopped' }, leftover_pids: [] });
  });

  it('ends a capsule that cannot be asked, and says so', async () => {
    const subject = newSubject(scratch.workdir);
    await execute(launchPlan(subject), scratch.ports());
    const plan = stopPlan(await mustObserve(scratch, subject));
    const capsule = { connect: () => Promise.reject(new Error('refused')) };
    const receipt = await execute(plan, scratch.ports({ capsule }));
    expect(receipt.steps[0]?.detail).toMatch(/could not be asked \(.*refused\) and was ended/);
    const { state_files: files, observation } = await mustObserve(scratch, subject);
    expect(observation.container.state).toBe('stopped');
    expect(files.exit_record).toMatchObject({ record: { ended_by: 'signal' } });
  });
});
