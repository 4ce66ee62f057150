import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { fakeAgent } from './support/agents.ts';
import { agentPid, atTerminal, loadAttached } from './support/attached.ts';
import { capsulePid, isAlive, keptOf } from './support/evidence.ts';
import { type Instance, killInstance, processesOf, statusOf } from './support/instance.ts';
import { createSandbox, eventually, type Sandbox } from './support/sandbox.ts';
import type { TerminalSession } from './support/terminal.ts';

jest.setTimeout(120_000);

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

  test('O84: what comes back continues the conversation of the agent, where one was captured', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    await codex.pid();
    expect(codex.args()).toBe('');
    await killInstance(instance);
    captured(instance.base);
    const row = (await sandbox.jackin(['status', instance.id, '--json'])).json().data.instances[0];
    expect(row).toMatchObject({ status: 'crashed', conversation: 'flag' });
    const { json } = await sandbox.jackin(['resume', instance.id, '--detach', '--json'], { env: codex.env });
    expect(json().data).toMatchObject({ tier: 1, conversation: 'flag' });
    await expect(codex.pid()).resolves.toBeGreaterThan(0);
    expect(codex.args()).toBe('resume token-of-the-conversation');
  });

  test('O86: state lies below HOME by default, and doctor warns about a place that a reboot empties', async () => {
    // Not below /tmp, which is such a place itself.
    const home = mkdtempSync(join('/var/tmp', 'jk-e2e-home-'));
    try {
      const env = {
        HOME: home,
        JACKIN_HOME_DIR: '',
        TMPDIR: tmpdir(),
        XDG_STATE_HOME: '/dev/shm/jackin-state',
      };
      const usual = await finding(env);
      expect(usual.severity).toBe('ok');
      const place = await finding({ ...env, JACKIN_HOME_DIR: join(home, '.jackin') });
      expect(place).toEqual(usual);
      expect(await finding({ ...env, JACKIN_HOME_DIR: '/dev/shm/jackin-state' })).toMatchObject({
        severity: 'warning',
        message: expect.stringContaining('/dev/shm/jackin-state is on tmpfs'),
        hint: expect.stringContaining('JACKIN_HOME_DIR'),
      });
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});

async function resumed({ id }: Instance): Promise<Record<string, unknown>> {
  const { code, json } = await sandbox.jackin(['resume', id, '--detach', '--json']);
  expect({ code, error: json().error }).toEqual({ code: 0, error: undefined });
  return json().data;
}

/** The conversation's id, as a session leaves it with the instance. */
function captured(base: string): void {
  const file = join(sandbox.state, 'data', base, '.jackin/instance.json');
  const entry = { cwd: sandbox.project, captured_at: new Date().toISOString(), source: 'session file' };
  const resume = { codex: { token: 'token-of-the-conversation', ...entry } };
  writeFileSync(file, JSON.stringify({ ...sandbox.manifest(base), resume }));
}

async function finding(env: Record<string, string>): Promise<Record<string, string>> {
  const { json } = await sandbox.jackin(['doctor', '--json'], { env });
  return json().data.findings.find((one: { check: string }) => one.check === 'state.file_system');
}
