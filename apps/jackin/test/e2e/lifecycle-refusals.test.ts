import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { WAITING } from './support/attached.ts';
import { ended, snapshot } from './support/evidence.ts';
import { processesOf } from './support/instance.ts';
import { BIN, createSandbox, eventually, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(120_000);

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

const UNUSABLE: { args: string[]; exitCode: number; code: string; says: string | RegExp }[] = [
  { args: ['frobnicate'], exitCode: 2, code: 'UNKNOWN_COMMAND', says: 'frobnicate' },
  { args: ['statsu'], exitCode: 2, code: 'UNKNOWN_COMMAND', says: 'statsu' },
  { args: ['load', '--nope'], exitCode: 2, code: 'USAGE', says: '--nope' },
  {
    args: ['load', '--keep', '--clean'],
    exitCode: 2,
    code: 'USAGE',
    says: /--keep.*--clean|--clean.*--keep/,
  },
  { args: ['load', '--new', '--resume'], exitCode: 2, code: 'USAGE', says: '--new' },
  { args: ['load', 'shell', '.', 'more', '--new'], exitCode: 2, code: 'USAGE', says: 'more' },
  { args: ['load', '--memory', 'banana'], exitCode: 2, code: 'USAGE', says: 'banana' },
  { args: ['load', '--cpus', '-1'], exitCode: 2, code: 'USAGE', says: '--cpus' },
  { args: ['load', '--pids', '1.5'], exitCode: 2, code: 'USAGE', says: '1.5' },
  { args: ['load', '--backend', 'podman'], exitCode: 2, code: 'USAGE', says: 'podman' },
  { args: ['load', 'shell', '.', '--new'], exitCode: 2, code: 'USAGE', says: '--detach' },
  { args: ['resume'], exitCode: 2, code: 'USAGE', says: '--all' },
  { args: ['resume', 'some', '--all'], exitCode: 2, code: 'USAGE', says: '--all' },
  { args: ['hardline', '--new', '--shell'], exitCode: 2, code: 'USAGE', says: '--shell' },
  { args: ['stop'], exitCode: 2, code: 'USAGE', says: 'id' },
  { args: ['stop', 'some', '--', 'true'], exitCode: 2, code: 'USAGE', says: '--' },
  { args: ['stop', 'nothere1'], exitCode: 1, code: 'INSTANCE_NOT_FOUND', says: 'nothere1' },
  { args: ['status', 'nothere1'], exitCode: 1, code: 'INSTANCE_NOT_FOUND', says: 'nothere1' },
  { args: ['purge', 'nothere1', '--yes'], exitCode: 1, code: 'INSTANCE_NOT_FOUND', says: 'nothere1' },
  {
    args: ['load', 'shell', 'no/such/place', '--new', '--detach'],
    exitCode: 1,
    code: 'TARGET_NOT_FOUND',
    says: 'no/such/place',
  },
  {
    args: ['load', 'shell', '.', '--agent', 'nobody', '--new', '--detach'],
    exitCode: 2,
    code: 'AGENT_UNKNOWN',
    says: 'nobody',
  },
  { args: ['load', 'nobody', '.', '--new', '--detach'], exitCode: 2, code: 'ROLE_UNKNOWN', says: 'nobody' },
];

describe('a command that cannot be carried out', () => {
  test.each(UNUSABLE)(
    'jackin $args is $code: one document, exit code $exitCode',
    async ({ args, exitCode, code, says }) => {
      const at = args.indexOf('--');
      const withJson = at === -1 ? [...args, '--json'] : [...args.slice(0, at), '--json', ...args.slice(at)];
      const result = await sandbox.jackin(withJson);
      const { schema_version: version, error, ...rest } = JSON.parse(result.stdout);
      expect({ exit: result.code, version, rest, code: error.code }).toEqual({
        exit: exitCode,
        version: 'v1',
        rest: {},
        code,
      });
      expect(error.message).toMatch(says);
      expect(error.hint).toEqual(expect.stringMatching(/\S/));
      expect(`${result.stdout}${result.stderr}`).not.toMatch(/\n\s+at .*:\d+:\d+/);
      expect(snapshot(sandbox.state)).toEqual(['nothing']);
    },
  );

  test('says the same as text on stderr, and nothing on stdout', async () => {
    for (const { args, exitCode, code } of [UNUSABLE[0], UNUSABLE[2], UNUSABLE[16]] as typeof UNUSABLE) {
      const result = await sandbox.jackin(args);
      expect({ exit: result.code, stdout: result.stdout }).toEqual({ exit: exitCode, stdout: '' });
      expect(result.stderr).toContain(`(${code})`);
      expect(result.stderr).not.toMatch(/\n\s+at .*:\d+:\d+/);
    }
  });

  test('names the instances that an ambiguous prefix could mean, and touches none of them', async () => {
    const instances = [await sandbox.loadShell(WAITING), await sandbox.loadShell(WAITING)];
    for (const verb of [['stop'], ['purge', '--yes'], ['resume', '--detach'], ['status']]) {
      const [name, ...flags] = verb as [string, ...string[]];
      const { code, json } = await sandbox.jackin([name, 'jk-', ...flags, '--json']);
      const { error } = json();
      expect({ verb, code, error: error.code }).toEqual({ verb, code: 1, error: 'INSTANCE_AMBIGUOUS' });
      for (const { base } of instances) expect(`${error.message}\n${error.hint}`).toContain(base);
    }
    for (const { id } of instances) expect((await processesOf(id)).length).toBeGreaterThan(1);
  });

  test('without a flag and without anybody to ask a load lists the candidates and both ways on', async () => {
    const instance = await sandbox.loadShell(WAITING);
    const load = [
      'load',
      'shell',
      sandbox.project,
      '--agent',
      'shell',
      '--backend',
      'standalone',
      '--detach',
      '--json',
    ];
    const { code, json } = await sandbox.jackin(load);
    const { error } = json();
    expect({ code, error: error.code }).toEqual({ code: 3, error: 'DECISION_NEEDED' });
    expect(error.details.candidates).toMatchObject([
      { instance_id: instance.id, what: 'running', readiness: 'ready' },
    ]);
    const commands = error.details.commands.join('\n');
    for (const way of ['--new', `--instance ${instance.id}`]) expect(commands).toContain(way);

    const chosen = await sandbox.jackin([...load, '--instance', instance.id]);
    expect({ code: chosen.code, data: chosen.json().data }).toMatchObject({
      code: 0,
      data: { instance_id: instance.id, tier: 0, status: 'running' },
    });
  });

  test('inside of an instance load, resume and hardline are refused by name, and nothing is made', async () => {
    const [node, out] = [process.execPath, join(sandbox.root, 'inside')];
    const lines = [
      ['load', 'shell', '.', '--new', '--detach', '--json', '--backend', 'standalone'],
      ['resume', '--all', '--json'],
      ['resume', 'anything', '--detach', '--json'],
      ['hardline'],
    ].map(
      (args, at) =>
        `'${node}' '${BIN}' ${args.join(' ')} >'${out}.${at}' 2>'${out}.err'; echo $? >>'${out}.codes'`,
    );
    const instance = await sandbox.loadShell(['sh', '-c', `${lines.join('; ')}; exit 0`]);
    await ended(instance);
    await eventually('all of them have ended', () => readFileSync(`${out}.codes`, 'utf8') === '1\n1\n1\n1\n');
    for (const [at, verb] of ['load', 'resume', 'resume'].entries()) {
      const { error } = JSON.parse(readFileSync(`${out}.${at}`, 'utf8'));
      expect(error).toMatchObject({ code: 'INSIDE_INSTANCE', details: { instance_id: instance.id } });
      expect(error.message).toContain(`jackin ${verb}`);
    }
    expect(readFileSync(`${out}.err`, 'utf8')).toMatch(/jackin hardline .*\(INSIDE_INSTANCE\)/);
    // The HOME of the session is where an own state directory would have been made.
    expect(existsSync(join(sandbox.state, 'data', instance.base, 'home/.jackin'))).toBe(false);
    const instances = readdirSync(join(sandbox.state, 'data')).filter((name) => /^jk-.*shell$/.test(name));
    expect(instances).toEqual([instance.base]);
  });
});

describe('without a terminal', () => {
  test.each(['load', 'resume', 'hardline'])(
    '%s does not attach: usage error, and nothing is made or changed',
    async (verb) => {
      const instance = verb === 'load' ? null : await sandbox.loadShell(WAITING);
      const before = snapshot(sandbox.state);
      const command =
        instance === null
          ? ['load', 'shell', sandbox.project, '--new', '--backend', 'standalone']
          : [verb, instance.id];
      const { code, stdout, stderr } = await sandbox.jackin(command);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('TERMINAL_REQUIRED');
      expect(stderr).toContain(verb === 'hardline' ? '--inspect' : '--detach');
      expect(snapshot(sandbox.state)).toEqual(before);
    },
  );

  test.each(['--keep', '--clean'])(
    '%s has nothing to decide about a detached session and is refused',
    async (flag) => {
      const command = [
        'load',
        'shell',
        sandbox.project,
        '--new',
        '--detach',
        '--json',
        '--backend',
        'standalone',
        flag,
      ];
      const { code, json } = await sandbox.jackin(command);
      expect({ code, error: json().error }).toMatchObject({ code: 2, error: { code: 'USAGE' } });
      expect(snapshot(sandbox.state)).toEqual(['nothing']);
    },
  );
});
