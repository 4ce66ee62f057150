import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';
import { BROKEN, FAKE, fakeRole } from './support/fake-role.ts';
import { kept, writeAll } from './support/files.ts';

const MINUTES = 60_000;
const LIMIT = ['--memory', '256m'];
const WORKING = ['sh', '-c', 'while :; do sleep 1; done'];
const OOM_FIRST = '1000';

interface Told {
  status: string;
  cause: string | null;
}

await describeOnEngine('disaster', 'the cause of an ending on an engine, by its real event', (lab) => {
  let sandbox: EngineSandbox;
  /** What `status` said right after the event. */
  const recorded = new Map<Instance, Told>();
  /** Sessions that live on, and those that end without anybody looking. */
  const [living, unseen]: [Instance[], Instance[]] = [[], []];

  beforeAll(() => {
    sandbox = createEngineSandbox(lab());
    // Even the policy that cleans takes nothing that did not end cleanly.
    sandbox.writeConfig(`dirty_exit_policy = "clean"\n${fakeRole(sandbox)}`);
  });
  afterAll(() => sandbox.dispose(), 2 * MINUTES);

  async function working(): Promise<Instance> {
    const instance = await sandbox.load(WORKING, [], FAKE);
    await writeAll(sandbox, instance);
    return instance;
  }

  /** What `status` makes of it right after; it is on disk, and nothing was taken away. */
  async function told(instance: Instance, expected: Told & Record<string, unknown>, ...evidence: string[]) {
    const row = await sandbox.status(instance);
    expect(row).toMatchObject({ agent_alive: 'no', exit_pending: false, ...expected });
    for (const text of evidence) expect(row.evidence).toContainEqual(expect.stringContaining(text));
    const { status, cause } = expected;
    const manifest = sandbox.manifest(instance.base);
    expect([manifest.status, manifest.exit_cause?.kind ?? null]).toEqual([status, cause]);
    recorded.set(instance, { status, cause });
    return row;
  }

  const files = ({ id }: Instance) => [id, id];

  describe('right after', () => {
    test(
      'docker stop is stopped_by_other',
      async () => {
        const instance = await working();
        await sandbox.container(instance).stop();
        const signalled = 'exit record: ended by signal, signal SIGTERM';
        await told(instance, { status: 'stopped', cause: 'stopped_by_other' }, signalled, 'engine run: same');
        expect(kept(sandbox, instance)).toEqual(files(instance));
      },
      2 * MINUTES,
    );

    test(
      'docker kill is killed',
      async () => {
        const instance = await working();
        await kill(instance);
        const facts = ['exit record: none', 'exit code 137', 'engine run: same'];
        await told(instance, { status: 'stopped', cause: 'killed' }, ...facts);
        expect(kept(sandbox, instance)).toEqual(files(instance));
      },
      2 * MINUTES,
    );

    test(
      'docker kill of one whose exit record cannot be read is of unknown cause',
      async () => {
        const instance = await working();
        await sandbox.exec(instance, 'sh', '-c', 'echo garbage >/jackin/state/exit.json');
        await kill(instance);
        await told(
          instance,
          { status: 'stopped', cause: 'unknown' },
          'exit record: unreadable',
          'exit code 137',
        );
        expect(kept(sandbox, instance)).toEqual(files(instance));
      },
      2 * MINUTES,
    );

    test(
      'an agent in a container that exits 0 is a clean end',
      async () => {
        const instance = await sandbox.load(['sh', '-c', 'exit 0'], [], FAKE);
        await sandbox.container(instance).wait();
        const record = 'exit record: ended by agent, code 0';
        await told(instance, { status: 'clean_exited', cause: 'clean', exit_pending: true }, record);
      },
      2 * MINUTES,
    );

    test(
      'an agent in a container that exits 3 is a crash with its code, whatever the container exits with',
      async () => {
        const instance = await sandbox.load(['sh', '-c', 'exit 3'], [], FAKE);
        await sandbox.container(instance).wait();
        const record = 'exit record: ended by agent, code 3';
        await told(instance, { status: 'crashed', cause: 'agent_crash' }, record);
        expect(sandbox.manifest(instance.base)).toMatchObject({
          exit_cause: { exit_code: 3 },
          last_attach_outcome: 'exit:3',
        });
      },
      2 * MINUTES,
    );

    test(
      'a container that is killed for memory with its supervisor is oom',
      async () => {
        const instance = await sandbox.load(WORKING, LIMIT, FAKE);
        await runOutOfMemory(instance);
        const facts = ['exit record: none', 'exit code 137', 'engine: OOM flag set'];
        await told(instance, { status: 'crashed', cause: 'oom' }, ...facts);
      },
      2 * MINUTES,
    );

    test(
      'an agent that is killed for memory under a living supervisor is oom',
      async () => {
        const instance = await sandbox.load(['tail', '/dev/zero'], LIMIT, FAKE);
        await sandbox.container(instance).wait();
        const record = 'exit record: ended by agent, signal SIGKILL';
        await told(instance, { status: 'crashed', cause: 'oom' }, record, 'counted an OOM kill');
        expect(sandbox.manifest(instance.base).last_attach_outcome).toBe('oom_killed');
      },
      2 * MINUTES,
    );

    test(
      'a container whose agent cannot be started is failed_setup, and what was made for it is gone',
      async () => {
        const { role, agent } = BROKEN;
        const { code, json } = await sandbox.jackin([
          ...['load', role, sandbox.project, '--agent', agent, '--new', '--detach', '--json'],
        ]);
        const { details, ...error } = json().error;
        expect([code, error]).toMatchObject([1, { code: 'AGENT_START_FAILED' }]);
        const instance = sandbox.adopt({ id: details.instance_id, base: details.container_base });
        const step = 'start_session';
        await told(instance, { status: 'failed_setup', cause: 'setup_failed' }, step, 'AGENT_START_FAILED');
        expect(await sandbox.onEngine(instance)).toEqual([]);
      },
      2 * MINUTES,
    );

    test(
      'docker rm -f of a running session leaves what is on disk',
      async () => {
        const instance = await working();
        await sandbox.container(instance).remove({ force: true });
        await told(
          instance,
          { status: 'restore_available', cause: null, container: 'missing' },
          'container: gone',
        );
        expect(kept(sandbox, instance)).toEqual(files(instance));
      },
      2 * MINUTES,
    );

    test(
      'docker rm of a stopped session keeps the cause it had',
      async () => {
        const instance = await working();
        await sandbox.container(instance).stop();
        await told(instance, { status: 'stopped', cause: 'stopped_by_other' });
        await sandbox.container(instance).remove();
        await told(instance, {
          status: 'restore_available',
          cause: 'stopped_by_other',
          container: 'missing',
        });
        expect(kept(sandbox, instance)).toEqual(files(instance));
      },
      2 * MINUTES,
    );

    test(
      'docker network prune and docker volume prune change no status, and take nothing of a running session',
      async () => {
        const [running, stopped] = [await working(), await working()];
        living.push(running);
        await sandbox.container(stopped).stop();
        const expected = { status: 'stopped', cause: 'stopped_by_other', container: 'stopped' };
        await told(stopped, expected);

        const { NetworksDeleted: networks } = await lab().docker.pruneNetworks();
        await lab().docker.pruneVolumes();
        expect(networks).toContain(`${stopped.base}-net`);
        expect(networks).not.toContain(`${running.base}-net`);
        await told(stopped, expected);
        expect(await sandbox.status(running)).toMatchObject({
          status: 'running',
          cause: null,
          agent_alive: 'yes',
        });
        for (const instance of [running, stopped]) expect(kept(sandbox, instance)).toEqual(files(instance));
      },
      2 * MINUTES,
    );
  });

  describe('after a restart of the engine in between', () => {
    beforeAll(async () => {
      const [stopped, killed] = [await working(), await working()];
      unseen.push(stopped, killed);
      await sandbox.container(stopped).stop();
      await kill(killed);
      await lab().engineCrash();
      await lab().start();
    }, 4 * MINUTES);

    test(
      'the causes that were recorded stay',
      async () => {
        expect(recorded.size).toBeGreaterThan(10);
        for (const [instance, { status, cause }] of recorded) {
          expect([instance.base, await sandbox.status(instance)]).toMatchObject([
            instance.base,
            { status, cause },
          ]);
          const manifest = sandbox.manifest(instance.base);
          expect([manifest.status, manifest.exit_cause?.kind ?? null]).toEqual([status, cause]);
        }
      },
      2 * MINUTES,
    );

    test(
      'an end that nobody saw before the restart is host_lost, and may have been a stop',
      async () => {
        for (const instance of unseen) {
          const lost = { status: 'host_lost', cause: 'engine_restart' };
          await told(instance, lost, 'engine run: changed', 'may have been stopped earlier');
          expect(kept(sandbox, instance)).toEqual(files(instance));
        }
      },
      2 * MINUTES,
    );

    test(
      'what ran is host_lost too, though the engine tells of a stop in its new run',
      async () => {
        const [instance] = living as [Instance];
        expect(await told(instance, { status: 'host_lost', cause: 'engine_restart' })).toMatchObject({
          container: 'stopped',
        });
        expect(await eventsOf(instance)).toContain('die');
        expect(kept(sandbox, instance)).toEqual(files(instance));
      },
      2 * MINUTES,
    );

    test(
      'an exit code 0 of the container proves nothing',
      async () => {
        const codes = await Promise.all(
          [...recorded].map(async ([instance, { cause }]) => [await exitCode(instance), cause]),
        );
        const withZero = new Set(codes.filter(([code]) => code === 0).map(([, cause]) => cause));
        expect([...withZero]).toEqual(expect.arrayContaining(['agent_crash', 'clean', 'oom']));
      },
      2 * MINUTES,
    );
  });

  async function kill(instance: Instance): Promise<void> {
    await sandbox.container(instance).kill();
    await sandbox.container(instance).wait();
  }

  /** Fills the memory of the container, in which the kernel takes the supervisor first. */
  async function runOutOfMemory(instance: Instance): Promise<void> {
    const container = sandbox.container(instance);
    const { Titles: titles, Processes: processes } = await container.top();
    const supervisor = (processes as string[][]).find((row) => row.join(' ').includes('capsule.mjs'));
    const pid = supervisor?.[(titles as string[]).indexOf('PID')];
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_FIRST);
    const hog = await container.exec({ Cmd: ['tail', '/dev/zero'], AttachStdout: true });
    (await hog.start({})).resume();
    await container.wait();
  }

  async function exitCode(instance: Instance): Promise<number | null> {
    const inspected = await sandbox
      .container(instance)
      .inspect()
      .catch(() => null);
    return inspected?.State.ExitCode ?? null;
  }

  /** What the engine's present run tells of its container. */
  async function eventsOf({ base }: Instance): Promise<string[]> {
    const until = Math.ceil(Date.now() / 1_000);
    const stream = await lab().docker.getEvents({ since: 0, until, filters: { container: [base] } });
    let text = '';
    for await (const chunk of stream) text += chunk;
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).Action);
  }
});
