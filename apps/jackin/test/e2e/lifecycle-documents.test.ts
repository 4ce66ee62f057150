import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { fakeAgent } from './support/agents.ts';
import { WAITING } from './support/attached.ts';
import { ended, rebooted } from './support/evidence.ts';
import { killInstance } from './support/instance.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';
import { type TypedDocument, typeErrors } from './support/typed.ts';

jest.setTimeout(240_000);

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

describe('the documents of --json', () => {
  test('are one each, and have exactly the fields of the types that programs compile against', async () => {
    const documents: TypedDocument[] = [];
    const jackin = async (type: string, args: string[], codes = [0]): Promise<any> => {
      const { code, stdout } = await sandbox.jackin([...args, '--json']);
      const { schema_version: version, data, ...rest } = JSON.parse(stdout);
      expect({ args, version, rest }).toEqual({ args, version: 'v1', rest: {} });
      expect(codes).toContain(code);
      documents.push({ type, value: data });
      return data;
    };
    const load = ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--backend', 'standalone'];
    const codex = fakeAgent(sandbox, 'codex', 'exit 3');
    const crashed = await codex.load();
    const other = await sandbox.loadShell(WAITING);
    await jackin('PlanDocument', [...load, '--dry-run']);
    const { instance_id: id, container_base: base } = await jackin('LoadDocument', [...load, '--detach']);
    await jackin('StatusDocument', ['status', '--detail', '--size']);
    await jackin('ResumeDocument', ['resume', id, '--detach']);
    await killInstance({ id, base });
    rebooted(sandbox, { id, base });
    await jackin('PlanDocument', ['resume', id, '--dry-run']);
    await jackin('ResumeAllDocument', ['resume', '--all']);
    await jackin('PlanDocument', ['stop', id, '--dry-run']);
    await jackin('PlansDocument', ['exile', '--dry-run']);
    await ended(crashed);
    await jackin('EndDocument', ['stop', crashed.id], [4]);
    await jackin('StatusDocument', ['hardline', id, '--inspect']);
    await jackin('EndDocument', ['stop', id, '--keep']);
    await jackin('ResumeDocument', ['resume', id, '--detach']);
    await jackin('EndDocument', ['eject', id]);
    await jackin('EndDocument', ['purge', id, '--yes']);
    await jackin('ExileDocument', ['exile', '--yes']);
    await jackin('EndDocument', ['stop', other.id, '--clean'], [0, 4]);
    await jackin('DoctorDocument', ['doctor'], [0, 1]);
    expect(typeErrors(join(sandbox.root, 'typed'), documents)).toBe('');
  });
});

describe('field reports', () => {
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
