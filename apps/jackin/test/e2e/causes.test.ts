import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { fakeAgent, loadAgent } from './support/agents.ts';
import { capsulePid, ended, exitRecord, keptOf, rebooted } from './support/evidence.ts';
import { type Instance, killInstance, statusOf } from './support/instance.ts';
import { createSandbox, eventually, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(120_000);

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

/** What `status` makes of an instance that has ended, and that nothing of it went away. */
async function told(instance: Instance, kept: string[]): Promise<Record<string, any>> {
  await ended(instance);
  const row = await statusOf(sandbox, instance);
  if (row === null) throw new Error(`${instance.base} is not listed`);
  expect(keptOf(sandbox, instance)).toEqual(expect.arrayContaining(kept));
  expect(row).toMatchObject({ container: 'stopped', agent_alive: 'no' });
  // What was told is recorded, so that the reason outlives the evidence.
  expect(sandbox.manifest(instance.base)).toMatchObject({
    status: row.status,
    exit_cause: { kind: row.cause },
  });
  return row;
}

function saying(...words: string[]) {
  return expect.arrayContaining(words.map((text) => expect.stringContaining(text)));
}

describe('the cause of an ending, by its real event', () => {
  test('an agent that exits 0 is a clean end', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    const kept = keptOf(sandbox, instance);
    codex.exit(0);
    expect(await told(instance, kept)).toMatchObject({
      status: 'clean_exited',
      cause: 'clean',
      exit_pending: true,
      evidence: saying('exit record: ended by agent, code 0'),
    });
  });

  test('an agent that is left with Ctrl-C at its prompt is a clean end too', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    const kept = keptOf(sandbox, instance);
    codex.exit(130);
    expect(await told(instance, kept)).toMatchObject({ status: 'clean_exited', cause: 'clean' });
  });

  test('an agent that exits 3 is a crash with its code', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    const kept = keptOf(sandbox, instance);
    codex.exit(3);
    expect(await told(instance, kept)).toMatchObject({
      status: 'crashed',
      cause: 'agent_crash',
      exit_pending: false,
      evidence: saying('exit record: ended by agent, code 3'),
    });
    expect(sandbox.manifest(instance.base)).toMatchObject({
      exit_cause: { exit_code: 3 },
      last_attach_outcome: 'exit:3',
    });
  });

  test('a shell that exits 3 is a clean end, because a shell gives the code of its last command', async () => {
    const instance = await sandbox.loadShell(['sh', '-c', 'exit 3']);
    expect(await told(instance, keptOf(sandbox, instance))).toMatchObject({
      status: 'clean_exited',
      cause: 'clean',
      exit_pending: true,
      evidence: saying('exit record: ended by agent, code 3'),
    });
  });

  test('an agent that dies by a signal is a crash', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    const kept = keptOf(sandbox, instance);
    process.kill(await codex.pid(), 'SIGSEGV');
    expect(await told(instance, kept)).toMatchObject({
      status: 'crashed',
      cause: 'agent_crash',
      evidence: saying('exit record: ended by agent, signal SIGSEGV'),
    });
  });

  test('an agent killed for memory is oom', async () => {
    const codex = fakeAgent(sandbox, 'codex', 'exec tail /dev/zero');
    const limited = loadAgent(sandbox, 'codex', ['--memory', '64m']);
    const { code, json } = await sandbox.jackin(limited, { env: codex.env });
    if (process.getuid?.() !== 0) {
      // A limit that nobody enforces is refused: only root can make a control group of its own.
      expect({ code, error: json().error }).toMatchObject({ code: 1, error: { code: 'AGENT_START_FAILED' } });
      expect(json().error.message).toContain('limit cannot be enforced');
      return;
    }
    expect(code).toBe(0);
    const { instance_id: id, container_base: base } = json().data;
    expect(await told({ id, base }, keptOf(sandbox, { id, base }))).toMatchObject({
      status: 'crashed',
      cause: 'oom',
      evidence: saying("the agent's own group counted an OOM kill"),
    });
    expect(sandbox.manifest(base).last_attach_outcome).toBe('oom_killed');
  });

  test('a capsule killed with its children is a capsule crash', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    const kept = keptOf(sandbox, instance);
    await killInstance(instance);
    expect(await told(instance, kept)).toMatchObject({
      status: 'crashed',
      cause: 'capsule_crash',
      evidence: saying('exit record: none', 'boot id: same'),
    });
  });

  test('a capsule ended by SIGTERM from someone else is stopped', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    const kept = keptOf(sandbox, instance);
    process.kill(capsulePid(sandbox, instance), 'SIGTERM');
    expect(await told(instance, kept)).toMatchObject({
      status: 'stopped',
      cause: 'stopped_by_other',
      exit_pending: false,
      evidence: saying('exit record: ended by signal, signal SIGTERM'),
    });
  });

  test('a recorded boot id that differs is host_lost', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    const kept = keptOf(sandbox, instance);
    await killInstance(instance);
    rebooted(sandbox, instance);
    expect(await told(instance, kept)).toMatchObject({
      status: 'host_lost',
      cause: 'host_restart',
      evidence: saying('boot id: changed', 'may have been stopped earlier'),
    });
  });

  test('a stop by jackin is jackin_stop', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const instance = await codex.load();
    const kept = keptOf(sandbox, instance);
    const { code, json } = await sandbox.jackin(['stop', instance.id, '--keep', '--json']);
    const nonce = sandbox.manifest(instance.base).stop_request.nonce;
    const evidence = saying(`stop request: ${nonce}`, `exit record: ended by request, nonce ${nonce}`);
    expect(code).toBe(0);
    expect(json().data).toMatchObject({ cause: 'jackin_stop', evidence });
    expect(keptOf(sandbox, instance)).toEqual(expect.arrayContaining(kept));
    expect(await statusOf(sandbox, instance)).toMatchObject({
      status: 'restore_available',
      cause: 'jackin_stop',
      evidence,
    });
  });

  test('a stop by a jackin that was killed before it could decide waits for its decision', async () => {
    const slow = `trap 'sleep 1; exit 0' HUP TERM; while :; do sleep 0.1; done`;
    const instance = await sandbox.loadShell(['sh', '-c', slow]);
    const kept = keptOf(sandbox, instance);
    const stop = sandbox.start(['stop', instance.id, '--clean']);
    await eventually('our request is recorded', () => exitRecord(sandbox, instance)?.ended_by === 'request');
    stop.kill('SIGKILL');
    await stop.done;
    expect(await told(instance, kept)).toMatchObject({
      status: 'clean_exited',
      cause: 'jackin_stop',
      exit_pending: true,
    });
    const { code, json } = await sandbox.jackin(['stop', instance.id, '--clean', '--json']);
    expect({ code, data: json().data }).toMatchObject({
      code: 0,
      data: { outcome: 'cleaned', cause: 'jackin_stop' },
    });
    expect(await sandbox.traces(instance)).toEqual([]);
  });

  test('a launch whose agent cannot start is failed_setup', async () => {
    const codex = fakeAgent(sandbox, 'codex');
    const program = join(sandbox.root, 'bin/codex');
    const healthy = readFileSync(program, 'utf8');
    writeFileSync(program, '#!/nonexistent/interpreter\n');
    const { code, json } = await sandbox.jackin(loadAgent(sandbox, 'codex'), { env: codex.env });
    const { details, ...error } = json().error;
    expect({ code, error }).toMatchObject({
      code: 1,
      error: { code: 'AGENT_START_FAILED', message: expect.stringContaining('codex') },
    });
    const instance = { id: details.instance_id, base: details.container_base };
    expect(error.hint).toContain(`jackin resume ${instance.id}`);
    await ended(instance);
    expect(await statusOf(sandbox, instance)).toMatchObject({
      status: 'failed_setup',
      cause: 'setup_failed',
      evidence: saying('start_session', 'AGENT_START_FAILED'),
    });
    const kept = keptOf(sandbox, instance);
    expect(kept).toEqual(expect.arrayContaining([`${instance.base}/home`, 'row']));

    writeFileSync(program, healthy);
    chmodSync(program, 0o755);
    const resumed = await sandbox.jackin(['resume', instance.id, '--detach', '--json'], { env: codex.env });
    expect({ code: resumed.code, data: resumed.json().data }).toMatchObject({
      code: 0,
      data: { tier: 1, status: 'running', did_not_return: [] },
    });
  });
});
