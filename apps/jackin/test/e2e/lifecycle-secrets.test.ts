import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { atTerminal } from './support/attached.ts';
import { capsulePid, snapshot } from './support/evidence.ts';
import { type Instance, killInstance, processesOf } from './support/instance.ts';
import { type CliResult, createSandbox, eventually, type Sandbox } from './support/sandbox.ts';
import type { TerminalSession } from './support/terminal.ts';

jest.setTimeout(120_000);

/** Proves that the value arrived without writing it down. */
const PROVE = ['sh', '-c', 'printf %s "$TOKEN" | sha256sum | cut -d" " -f1 >>"$HOME/proof"; sleep 1000'];

let sandbox: Sandbox;
let canary: string;
let env: Record<string, string>;
let terminals: TerminalSession[];

beforeEach(() => {
  sandbox = createSandbox();
  canary = `canary${randomBytes(16).toString('hex')}`;
  env = { CANARY: canary };
  terminals = [];
  // Of the newest version: there is nothing to bring up to date before the launch is refused.
  sandbox.writeConfig('version = "v1alpha10"\n\n[env]\nTOKEN = "$CANARY"\n');
});
afterEach(async () => {
  for (const terminal of terminals) terminal.close();
  await sandbox.dispose();
});

describe('a secret of the configuration', () => {
  test('reaches the agent at every start and is found in no file, no argument list and no output', async () => {
    const outputs: CliResult[] = [];
    const jackin = async (...args: string[]) => {
      const result = await sandbox.jackin(args, { env });
      outputs.push(result);
      expect({ args, code: result.code }).toEqual({ args, code: 0 });
      return result;
    };
    const load = ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--backend', 'standalone'];
    await jackin(...load, '--dry-run', '--json', '--', ...PROVE);
    const { data } = (await jackin(...load, '--detach', '--json', '--debug', '--', ...PROVE)).json();
    const instance = { id: data.instance_id, base: data.container_base };
    await proven(instance, 1);
    await nowhere(instance, outputs);

    await killInstance(instance);
    await jackin('resume', instance.id, '--dry-run', '--json');
    await jackin('resume', instance.id, '--detach', '--debug');
    await proven(instance, 2);
    await jackin('status', instance.id, '--detail');
    await jackin('status', '--json', '--debug');
    await nowhere(instance, outputs);
    await jackin('stop', instance.id, '--keep', '--debug');
    await nowhere(instance, outputs);
    expect(sandbox.manifest(instance.base).recipe.env).toEqual([{ name: 'TOKEN', source: '$CANARY' }]);
  });

  test('that nobody can resolve is an error naming the variable, before anything is made or changed', async () => {
    const load = ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--detach', '--json'];
    const refused = await sandbox.jackin([...load, '--backend', 'standalone']);
    expect({ code: refused.code, error: refused.json().error }).toMatchObject({
      code: 1,
      error: { code: 'ENV_UNRESOLVED', message: expect.stringMatching(/TOKEN.*CANARY|CANARY.*TOKEN/) },
    });
    expect(snapshot(sandbox.state)).toEqual(['nothing']);

    const loaded = await sandbox.jackin([...load, '--backend', 'standalone', '--', ...PROVE], { env });
    const instance = { id: loaded.json().data.instance_id, base: loaded.json().data.container_base };
    await killInstance(instance);
    await sandbox.jackin(['status']);
    const before = snapshot(join(sandbox.state, 'data', instance.base));
    const resume = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
    expect({ code: resume.code, error: resume.json().error }).toMatchObject({
      code: 1,
      error: { code: 'ENV_UNRESOLVED' },
    });
    expect(snapshot(join(sandbox.state, 'data', instance.base))).toEqual(before);
    expect(await processesOf(instance.id)).toEqual([]);
  });

  test('is not shown by a session that is attached to', async () => {
    const load = ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--backend', 'standalone'];
    const terminal = atTerminal(sandbox, [...load, '--debug', '--', ...PROVE], env);
    terminals.push(terminal);
    const data = join(sandbox.state, 'data');
    await eventually(
      'the agent has it',
      () =>
        existsSync(data)
          ? readdirSync(data).some((name) => existsSync(join(data, name, 'home/proof')))
          : false,
      60_000,
    );
    terminal.type('\u0002d');
    expect(await terminal.exited(60_000)).toBe(0);
    expect(terminal.output()).not.toContain(canary);
  });
});

/** The agent had the value at this many starts. */
async function proven({ base }: Instance, starts: number): Promise<void> {
  const file = join(sandbox.state, 'data', base, 'home/proof');
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
  await eventually('the agent has the value', () => lines().length === starts);
  const wanted = createHash('sha256').update(canary).digest('hex');
  expect(lines()).toEqual(Array.from({ length: starts }, () => wanted));
}

async function nowhere(instance: Instance, outputs: CliResult[]): Promise<void> {
  expect(filesWith(sandbox.root)).toEqual([]);
  expect(outputs.filter(({ stdout, stderr }) => `${stdout}${stderr}`.includes(canary))).toEqual([]);
  if (process.platform !== 'linux') return;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  expect(pids.filter((pid) => procFile(pid, 'cmdline').includes(canary))).toEqual([]);
  const running = (await processesOf(instance.id)).map(({ pid }) => pid);
  const capsule = running.length === 0 ? null : capsulePid(sandbox, instance);
  // The supervisor passes it on; its own environment, which lives on disk as /proc, has it not.
  if (capsule !== null) expect(procFile(String(capsule), 'environ')).not.toContain(canary);
}

/** Files of the sandbox that hold the value: state, project, configuration, journal. */
function filesWith(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(canary));
}

/** Empty for a process that has just gone. */
function procFile(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
