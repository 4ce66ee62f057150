import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { agentPid, WAITING } from './support/attached.ts';
import { capsulePid, isAlive, keptOf, rebooted } from './support/evidence.ts';
import { type Instance, killInstance, processesOf, statusOf } from './support/instance.ts';
import { createSandbox, eventually, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(120_000);

/** A session that writes into project and HOME, then counts as long as it lives. */
const WORK = [
  'sh',
  '-c',
  'echo project >work.txt; echo home >"$HOME/memory.txt"; while :; do echo tick >>ticks; sleep 0.1; done',
];

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

describe('the main job', () => {
  test('a detached load starts a session that writes into project and HOME and runs on when jackin is gone', async () => {
    const command = ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--detach', '--json'];
    const { code, json } = await sandbox.jackin([...command, '--backend', 'standalone', '--', ...WORK]);
    expect(code).toBe(0);
    const { instance_id: id, container_base: base, ...rest } = json().data;
    expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{8}$/);
    expect({ base, rest }).toEqual({ base: `jk-${id}-shell`, rest: { status: 'running', tier: null } });
    await worked({ id, base });
    await eventually('it counts on', countsOn());
    expect(await statusOf(sandbox, { id, base })).toMatchObject({
      status: 'running',
      cause: null,
      container: 'running',
      agent_alive: 'yes',
      workspace: sandbox.project,
      role: 'shell',
      agent: 'shell',
      backend: 'standalone',
    });
  });

  test('a session whose supervisor was killed with everything under it comes back at tier 1 with project and HOME', async () => {
    const instance = await sandbox.loadShell(WORK);
    await worked(instance);
    const first = capsulePid(sandbox, instance);
    await killInstance(instance);
    const lost = await statusOf(sandbox, instance);
    expect(lost).toMatchObject({
      status: 'crashed',
      cause: 'capsule_crash',
      container: 'stopped',
      agent_alive: 'no',
    });
    expect(lost?.evidence).toEqual(
      expect.arrayContaining([
        'exit record: none',
        'capsule process: stopped, exit code not observable',
        'boot id: same since the last start',
        expect.stringMatching(/^heartbeat: last at .*, 1 of 1 sessions alive$/),
      ]),
    );

    const ticks = statSync(join(sandbox.project, 'ticks')).size;
    expect(await resumed(instance)).toMatchObject({
      instance_id: instance.id,
      container_base: instance.base,
      tier: 1,
      status: 'running',
      cause: 'capsule_crash',
      conversation: 'none',
      returned: ['home', 'working_tree'],
      did_not_return: ['live_processes'],
    });
    await worked(instance);
    expect(capsulePid(sandbox, instance)).not.toBe(first);
    await eventually('the agent works again', () => statSync(join(sandbox.project, 'ticks')).size > ticks);
    expect(await statusOf(sandbox, instance)).toMatchObject({
      status: 'running',
      cause: null,
      agent_alive: 'yes',
    });
  });

  test('a resume of a running session is tier 0 and touches neither supervisor nor agent', async () => {
    const instance = await sandbox.loadShell(WORK);
    const [capsule, agent] = [capsulePid(sandbox, instance), await agentPid(sandbox, instance)];
    expect(await resumed(instance)).toMatchObject({
      tier: 0,
      status: 'running',
      cause: null,
      did_not_return: [],
    });
    expect([capsulePid(sandbox, instance), await agentPid(sandbox, instance)]).toEqual([capsule, agent]);
    expect(isAlive(agent)).toBe(true);
  });

  test('an eject frees the process and keeps the state, and a resume brings it back', async () => {
    const instance = await sandbox.loadShell(WORK);
    await worked(instance);
    const before = keptOf(sandbox, instance);
    const { code, json } = await sandbox.jackin(['eject', instance.id, '--json']);
    expect({ code, data: json().data }).toMatchObject({
      code: 0,
      data: {
        outcome: 'ejected',
        status: 'restore_available',
        cause: 'jackin_stop',
        kept_without_choice: false,
      },
    });
    expect(await processesOf(instance.id)).toEqual([]);
    expect(keptOf(sandbox, instance)).toEqual(expect.arrayContaining(before));
    expect(await statusOf(sandbox, instance)).toMatchObject({
      status: 'restore_available',
      cause: 'jackin_stop',
      container: 'missing',
      keep: { intent: 'operator' },
    });
    expect(await resumed(instance)).toMatchObject({ tier: 1, status: 'running' });
    await worked(instance);
    expect(sandbox.manifest(instance.base)).not.toHaveProperty('keep');
  });

  test('exile ejects everything that runs, after its confirmation, and nothing else', async () => {
    const [first, second, third] = [
      await sandbox.loadShell(WAITING),
      await sandbox.loadShell(WAITING),
      await sandbox.loadShell(WAITING),
    ];
    await killInstance(third);
    const asked = await sandbox.jackin(['exile', '--json']);
    expect({ code: asked.code, error: asked.json().error }).toMatchObject({
      code: 3,
      error: { code: 'DECISION_NEEDED', details: { commands: ['jackin exile --yes'] } },
    });
    expect(isAlive(capsulePid(sandbox, first))).toBe(true);

    const { code, json } = await sandbox.jackin(['exile', '--yes', '--json']);
    const { ejected, failed } = json().data;
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
    expect(ejected.map((one: { instance_id: string }) => one.instance_id).sort()).toEqual(
      [first.id, second.id].sort(),
    );
    for (const { id } of [first, second]) expect(await processesOf(id)).toEqual([]);
    expect(await statusOf(sandbox, first)).toMatchObject({
      status: 'restore_available',
      cause: 'jackin_stop',
    });
    expect(await statusOf(sandbox, third)).toMatchObject({ status: 'crashed', cause: 'capsule_crash' });
    const again = await sandbox.jackin(['exile', '--json']);
    expect({ code: again.code, data: again.json().data }).toEqual({
      code: 0,
      data: { ejected: [], failed: [] },
    });
  });

  test('a purge asks for --yes, then ends what runs and leaves nothing of the instance', async () => {
    const [instance, other] = [await sandbox.loadShell(WORK), await sandbox.loadShell(WAITING)];
    const asked = await sandbox.jackin(['purge', instance.id, '--json']);
    expect({ code: asked.code, error: asked.json().error }).toMatchObject({
      code: 3,
      error: { code: 'DECISION_NEEDED', hint: expect.stringContaining(`jackin purge ${instance.id} --yes`) },
    });
    expect(isAlive(await agentPid(sandbox, instance))).toBe(true);

    const { code, json } = await sandbox.jackin(['purge', instance.id, '--yes', '--json']);
    expect({ code, data: json().data }).toMatchObject({
      code: 0,
      data: { outcome: 'cleaned', status: null, kept: [] },
    });
    expect(json().data.removed).toEqual(
      expect.arrayContaining([expect.stringContaining('data of'), expect.stringContaining('index row of')]),
    );
    expect(await sandbox.traces(instance)).toEqual([]);
    expect(readFileSync(join(sandbox.project, 'work.txt'), 'utf8')).toBe('project\n');
    expect(await statusOf(sandbox, other)).toMatchObject({ status: 'running', agent_alive: 'yes' });
  });

  test('resume --all brings back what the last loss of the host interrupted, and only that', async () => {
    const [first, second, crashed] = [
      await sandbox.loadShell(WORK),
      await sandbox.loadShell(WAITING),
      await sandbox.loadShell(WAITING),
    ];
    for (const instance of [first, second, crashed]) await killInstance(instance);
    for (const instance of [first, second]) rebooted(sandbox, instance);
    const { code, json } = await sandbox.jackin(['resume', '--all', '--json']);
    const { resumed: back, failed } = json().data;
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
    expect(back).toHaveLength(2);
    for (const { id } of [first, second]) {
      const one = back.find((row: { instance_id: string }) => row.instance_id === id);
      expect(one).toMatchObject({
        tier: 1,
        status: 'running',
        cause: 'host_restart',
        did_not_return: ['live_processes'],
      });
    }
    await worked(first);
    expect(await statusOf(sandbox, crashed)).toMatchObject({ status: 'crashed', container: 'stopped' });
  });

  test('doctor names what is missing, and is content when nothing is', async () => {
    const docker = await sandbox.jackin(['doctor', '--json']);
    expect(docker.code).toBe(1);
    expect(docker.json().data.findings).toContainEqual(
      expect.objectContaining({
        check: 'docker.endpoint',
        severity: 'error',
        hint: expect.stringContaining('standalone'),
      }),
    );
    sandbox.writeConfig('[runtime]\ndefault_backend = "standalone"\n');
    const standalone = await sandbox.jackin(['doctor', '--json']);
    expect(standalone.code).toBe(0);
    const severities = standalone.json().data.findings.map((one: { severity: string }) => one.severity);
    expect(severities).not.toContain('error');
    expect(standalone.json().data.findings).toContainEqual(
      expect.objectContaining({ check: 'docker.endpoint', severity: 'warning' }),
    );
    // Looking makes nothing.
    expect(existsSync(sandbox.state)).toBe(false);
  });
});

async function resumed({ id }: Instance): Promise<Record<string, unknown>> {
  const { code, json } = await sandbox.jackin(['resume', id, '--detach', '--json']);
  expect({ code, error: json().error }).toEqual({ code: 0, error: undefined });
  return json().data;
}

/** The files of the work are there, in the project and in the HOME of the instance. */
async function worked({ base }: Instance): Promise<void> {
  const files = [join(sandbox.project, 'work.txt'), join(sandbox.state, 'data', base, 'home/memory.txt')];
  await eventually('the session wrote its files', () =>
    files.every((file) => existsSync(file) && statSync(file).size > 0),
  );
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['project\n', 'home\n']);
}

function countsOn(): () => boolean {
  const size = () => statSync(join(sandbox.project, 'ticks'), { throwIfNoEntry: false })?.size ?? 0;
  const before = size();
  return () => size() > before;
}
