import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { agentPid, atTerminal, loadAttached, WAITING } from './support/attached.ts';
import { capsulePid, isAlive, keptOf, rebooted } from './support/evidence.ts';
import { type Instance, killInstance, processesOf, statusOf } from './support/instance.ts';
import { createSandbox, eventually, type Sandbox } from './support/sandbox.ts';
import type { TerminalSession } from './support/terminal.ts';

jest.setTimeout(120_000);

/** A session that writes into project and HOME, then counts as long as it lives. */
const WORK = [
  'sh',
  '-c',
  'echo project >work.txt; echo home >"$HOME/memory.txt"; while :; do echo tick >>ticks; sleep 0.1; done',
];

let sandbox: Sandbox;
let terminals: TerminalSession[];

beforeEach(() => {
  sandbox = createSandbox();
  terminals = [];
});
afterEach(async () => {
  for (const terminal of terminals) terminal.close();
  await sandbox.dispose();
});

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
        check: 'backend',
        severity: 'error',
        hint: expect.stringContaining('standalone'),
      }),
    );
    sandbox.writeConfig('[runtime]\ndefault_backend = "standalone"\n');
    const standalone = await sandbox.jackin(['doctor', '--json']);
    expect(standalone.code).toBe(0);
    const severities = standalone.json().data.findings.map((one: { severity: string }) => one.severity);
    expect(severities).not.toContain('error');
    // Looking makes nothing.
    expect(existsSync(sandbox.state)).toBe(false);
  });
});

describe('field reports', () => {
  test('O24: nothing is cleaned up while another session of the instance is alive', async () => {
    sandbox.writeConfig('dirty_exit_policy = "clean"\n');
    const { terminal, instance } = await loadAttached(sandbox, ['--clean']);
    terminals.push(terminal);
    const second = atTerminal(sandbox, ['hardline', instance.id, '--shell']);
    terminals.push(second);
    await second.waitFor(/[$#]$/m, 60_000);
    second.type('echo nested=$((40+2))\r');
    await second.waitFor('nested=42');

    terminal.type('\r');
    expect(await terminal.exited(60_000)).toBe(0);
    await terminal.waitFor(`${instance.base} runs on, status running.`);
    await terminal.waitFor('another session is alive');
    second.type('echo still=$((80+4)); pwd\r');
    await second.waitFor('still=84');
    await second.waitFor(sandbox.project);
    expect(keptOf(sandbox, instance)).toContain('row');

    // The last one out decides by the policy.
    second.type('exit\r');
    expect(await second.exited(60_000)).toBe(0);
    await second.waitFor(`${instance.base} was cleaned up.`);
    expect(await sandbox.traces(instance)).toEqual([]);
  });

  test('O49: a supervisor whose agent is dead gets its agent back in place', async () => {
    const { terminal, instance } = await loadAttached(sandbox);
    terminals.push(terminal);
    const [capsule, agent] = [capsulePid(sandbox, instance), await agentPid(sandbox, instance)];
    // An attached client that does not react holds the supervisor while its agent is gone.
    process.kill(terminal.jackinPid(), 'SIGSTOP');
    process.kill(agent, 'SIGKILL');
    await eventually('the supervisor saw it end', async () => {
      const row = await statusOf(sandbox, instance);
      return row?.agent_alive === 'no' && row.container === 'running';
    });

    expect(await resumed(instance)).toMatchObject({
      tier: 0,
      status: 'running',
      returned: ['home', 'working_tree', 'live_processes'],
      did_not_return: ['agent_process'],
    });
    const next = await agentPid(sandbox, instance, agent);
    expect(isAlive(next)).toBe(true);
    expect(capsulePid(sandbox, instance)).toBe(capsule);

    // What the sleeper saw is about the agent that ended, not about the one that lives.
    process.kill(terminal.jackinPid(), 'SIGCONT');
    expect(await terminal.exited(60_000)).toBe(0);
    await terminal.waitFor(`${instance.base} runs on, status running.`);
    expect(isAlive(next)).toBe(true);
    expect(await statusOf(sandbox, instance)).toMatchObject({
      status: 'running',
      cause: null,
      agent_alive: 'yes',
    });
  });

  test('O62: what a killed jackin and a killed supervisor left recorded is bound anew at the next start', async () => {
    const { terminal, instance } = await loadAttached(sandbox);
    terminals.push(terminal);
    const agent = await agentPid(sandbox, instance);
    process.kill(terminal.jackinPid(), 'SIGKILL');
    await eventually('jackin is gone', () => !isAlive(terminal.jackinPid()));
    expect(await resumed(instance)).toMatchObject({ tier: 0, did_not_return: [] });
    expect(await agentPid(sandbox, instance)).toBe(agent);

    await killInstance(instance);
    const stale = sandbox.manifest(instance.base);
    expect(await resumed(instance)).toMatchObject({ tier: 1, status: 'running' });
    const fresh = sandbox.manifest(instance.base);
    expect(fresh.backend.standalone.pid).not.toBe(stale.backend.standalone.pid);
    expect(isAlive(fresh.backend.standalone.pid)).toBe(true);
    const running = fresh.sessions.filter((session: { status: string }) => session.status === 'running');
    expect(running).toHaveLength(1);
    expect(stale.sessions.map((session: { session_id: string }) => session.session_id)).not.toContain(
      running[0].session_id,
    );

    const back = atTerminal(sandbox, ['hardline', instance.id]);
    terminals.push(back);
    await back.waitFor('ready 2', 60_000);
    back.type('\u0002d');
    expect(await back.exited(60_000)).toBe(0);
  });

  test('O84: a paused and then killed session tells its state and last output, and comes back with its conversation', async () => {
    const instance = await sandbox.loadShell([
      'sh',
      '-c',
      'echo last words; echo kept >"$HOME/memory.txt"; sleep 1000',
    ]);
    const screen = join(sandbox.state, 'data', instance.base, 'state/screen.json');
    await eventually(
      'the screen is on disk',
      () => existsSync(screen) && readFileSync(screen, 'utf8').includes('last words'),
    );
    const processes = await processesOf(instance.id);
    for (const { pid } of processes) process.kill(pid, 'SIGSTOP');
    expect(await statusOf(sandbox, instance)).toMatchObject({
      status: 'running',
      container: 'running',
      agent_alive: 'unknown',
    });
    await killInstance(instance);

    const { json } = await sandbox.jackin(['status', instance.id, '--detail', '--json']);
    const [row] = json().data.instances;
    expect(row).toMatchObject({ status: 'crashed', cause: 'capsule_crash', agent_alive: 'no' });
    expect(row.last_screen.join('\n')).toContain('last words');
    expect(await resumed(instance)).toMatchObject({ tier: 1, did_not_return: ['live_processes'] });
    const memory = join(sandbox.state, 'data', instance.base, 'home/memory.txt');
    expect(readFileSync(memory, 'utf8')).toBe('kept\n');
    expect(sandbox.manifest(instance.base).recipe.workdir).toBe(sandbox.project);
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
