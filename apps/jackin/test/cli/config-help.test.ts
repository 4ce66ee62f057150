import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { commands, topics } from '../../src/commands.ts';
import { openPlace, type Place } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let place: Place;
beforeAll(() => {
  place = openPlace();
});
afterAll(() => place.dispose());

const nested = Object.keys(commands).filter((name) => name.includes(':'));

describe('help', () => {
  test.each(Object.keys(topics))('of the topic %s lists its commands', async (topic) => {
    const words = topic.split(':');
    const alone = await place.run(words);
    expect(alone).toMatchObject({ code: 0, stderr: '' });
    for (const name of nested.filter(
      (one) => one.startsWith(`${topic}:`) && one.split(':').length === words.length + 1,
    )) {
      expect(alone.stdout).toContain(`  ${name.replaceAll(':', ' ')}  `);
    }
  });

  test.each(nested)('of %s says what it does, its usage and an example', async (name) => {
    const words = name.split(':');
    const help = await place.run([...words, '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/^[A-Z].*\.\n/);
    expect(help.stdout).toContain(`$ jackin ${words.join(' ')}`);
    expect(help.stdout).toContain('EXAMPLES');
    expect(help.stdout).toContain('--json');
  });

  test('is found by the word help before it, too', async () => {
    const { stdout } = await place.run(['help', 'config', 'env', 'set']);
    expect(stdout).toContain('$ jackin config env set VALUES');
  });

  test('of workspace edit names every field, to set and to clear', async () => {
    const { stdout } = await place.run(['workspace', 'edit', '--help']);
    for (const flag of [
      '--workdir',
      '--mount',
      '--remove-mount',
      '--mount-isolation',
      '--allowed-role',
      '--remove-allowed-role',
      '--default-role',
      '--clear-default-role',
      '--clear-last-role',
      '--default-agent',
      '--clear-default-agent',
      '--backend',
      '--clear-backend',
      '--[no-]git-pull',
      '--exit-policy',
      '--clear-exit-policy',
      '--docker-profile',
      '--clear-docker-profile',
      '--grant',
      '--clear-grant',
      '--docker-mount',
      '--remove-docker-mount',
      '--auth',
      '--sync-source-dir',
      '--clear-auth',
    ]) {
      expect(stdout).toContain(`  ${flag}`);
    }
  });
});

describe('a command line that cannot be meant', () => {
  test.each<[string[], string, string]>([
    [['workspace', 'frob'], 'There is no command "workspace frob".', 'jackin workspace --help'],
    [['workspace', 'frob', '--help'], 'There is no command "workspace frob".', 'jackin workspace --help'],
    [['workspace', 'lits'], 'There is no command "workspace lits".', 'jackin workspace list --help'],
    [['conf'], 'There is no command "conf".', 'jackin config --help'],
    [
      ['config', 'env', 'sett', 'A=b'],
      'There is no command "config env sett".',
      'jackin config env set --help',
    ],
    [['doctor', 'now'], 'Unexpected argument: now', 'jackin doctor --help'],
    [['workspace', 'list', 'all'], 'Unexpected argument: all', 'jackin workspace list --help'],
    [['workspace', 'edit', 'app'], 'Say what to change.', 'jackin workspace edit --help'],
    [
      ['workspace', 'edit', 'app', '--exit-policy', 'keep', '--clear-exit-policy'],
      '--exit-policy and --clear-exit-policy exclude each other.',
      'jackin workspace edit --help',
    ],
    [
      ['workspace', 'edit', 'app', '--exit-policy', 'discard'],
      'Expected --exit-policy=discard to be one of: ask, keep, clean',
      'jackin workspace edit --help',
    ],
    [['workspace', 'show'], 'Missing 1 required arg: name', 'jackin workspace show --help'],
    [
      ['workspace', 'list', '--', 'x'],
      'Only "jackin load" takes a command after "--".',
      'jackin workspace list --help',
    ],
    [
      ['config', 'exit-policy', 'keep', '--clear'],
      '--clear and a policy exclude each other.',
      'jackin config exit-policy --help',
    ],
    [['config', 'auth', 'claude'], 'Say a mode, --sync-source-dir, or --clear.', 'jackin config auth --help'],
    [
      ['config', 'env', 'set', 'secret-without-a-name'],
      'env set takes NAME=VALUE, and there is no name',
      'Write the name, "=", and the value without spaces around it.',
    ],
    [
      ['config', 'set', 'a b', '1'],
      '"a b" is not a key.',
      'Write it as in the file, for example: attach.prefix or roles."my role".path',
    ],
    [
      ['config', 'set', 'env.A', 'b'],
      'env.A is a variable',
      'Set it with: jackin config env set NAME=VALUE [--role KEY]',
    ],
  ])('%j is told in one sentence, exit code 2', async (args, message, hint) => {
    const run = await place.run(args);
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain(message);
    expect(run.stderr).toContain(hint);
    expect(run.stderr).not.toContain('secret-without');
  });

  test('and is one document with --json', async () => {
    const run = await place.run(['workspace', 'edit', 'app', '--json']);
    const hint = 'jackin workspace edit --help';
    expect(JSON.parse(run.stdout).error).toMatchObject({
      code: 'USAGE',
      message: 'Say what to change.',
      hint,
    });
  });

  test('a topic alone is no document, so with --json it is refused', async () => {
    const run = await place.run(['workspace', '--json']);
    expect([run.code, JSON.parse(run.stdout).error.code]).toEqual([2, 'UNKNOWN_COMMAND']);
  });
});
