import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { BIN, openPlace, type Place, type Run } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let place: Place;
let id: string;
beforeAll(async () => {
  place = openPlace();
  const { stdout } = await place.run([...load, '--new', '--', 'sh', '-c', 'exec sleep 600']);
  id = JSON.parse(stdout).data.instance_id;
});
afterAll(async () => {
  await place.run(['exile', '--yes']);
  place.dispose();
});

const load = ['load', 'shell', '.', '--backend', 'standalone', '--detach', '--json'];

/** Exactly one document, of one of the two forms. */
function document(run: Run): any {
  const parsed = JSON.parse(run.stdout);
  expect(parsed.schema_version).toBe('v1');
  expect('data' in parsed).not.toBe('error' in parsed);
  expect(run.stderr).not.toMatch(/^\s+at .*:\d+:\d+/m);
  return parsed;
}

describe('every command prints exactly one document with --json', () => {
  test.each([
    ['status', ['status', '--detail', '--size'], 0],
    ['ps, the alias of status', ['ps'], 0],
    ['status of one', ['status', 'ID'], 0],
    ['doctor', ['doctor'], 1],
    ['hardline --inspect', ['hardline', 'ID', '--inspect'], 0],
    ['resume', ['resume', 'ID', '--detach'], 0],
    ['resume --all', ['resume', '--all'], 0],
    ['a plan of load', ['load', 'shell', '.', '--backend', 'standalone', '--new', '--dry-run'], 0],
    ['a plan of resume', ['resume', 'ID', '--dry-run'], 0],
    ['a plan of stop', ['stop', 'ID', '--dry-run'], 0],
    ['a plan of eject', ['eject', 'ID', '--dry-run'], 0],
    ['a plan of purge', ['purge', 'ID', '--dry-run'], 0],
    ['plans of exile', ['exile', '--dry-run'], 0],
  ])('%s', async (_what, args, code) => {
    const run = await place.run([...args.map((word) => (word === 'ID' ? id : word)), '--json']);
    expect(document(run)).toHaveProperty('data');
    expect(run.code).toBe(code);
  });
});

describe('every failure is a document too', () => {
  test.each([
    ['an unknown command', ['frobnicate'], 2, 'UNKNOWN_COMMAND'],
    ['no command', [], 2, 'UNKNOWN_COMMAND'],
    ['an unknown flag', ['status', '--frob'], 2, 'USAGE'],
    ['a missing argument', ['stop'], 2, 'USAGE'],
    ['too many arguments', ['stop', 'a', 'b'], 2, 'USAGE'],
    ['--keep with --clean', ['stop', 'x', '--keep', '--clean'], 2, 'USAGE'],
    ['a value that is no amount', ['load', '--memory', 'lots'], 2, 'USAGE'],
    ['a value that is no choice', ['load', '--backend', 'podman'], 2, 'USAGE'],
    ['attached load', ['load', 'shell', '.'], 2, 'USAGE'],
    ['attached hardline', ['hardline', 'ID'], 2, 'USAGE'],
    ['neither an id nor --all', ['resume'], 2, 'USAGE'],
    ['words after -- of another verb', ['status', '--', 'x'], 2, 'USAGE'],
    ['limits for a resumed session', [...load.slice(0, -1), '--resume', '--memory', '512m'], 2, 'USAGE'],
    ['an unknown instance', ['stop', 'zzzzzzzz'], 1, 'INSTANCE_NOT_FOUND'],
    ['an engine that is not there', ['load', 'shell', '.', '--detach', '--new'], 1, 'ENGINE_UNREACHABLE'],
    ['a directory that is not there', [...load.slice(0, 2), '/no/such', '--detach'], 1, 'TARGET_NOT_FOUND'],
    ['a decision nobody can make', load.slice(0, -1), 3, 'DECISION_NEEDED'],
    ['a confirmation nobody can give', ['purge', 'ID'], 3, 'DECISION_NEEDED'],
  ])('%s', async (_what, args, code, error) => {
    const words = args.map((word) => (word === 'ID' ? id : word));
    const at = words.indexOf('--');
    words.splice(at === -1 ? words.length : at, 0, '--json');
    const run = await place.run(words);
    expect(document(run).error).toMatchObject({
      code: error,
      message: expect.any(String),
      hint: expect.any(String),
    });
    expect(run.code).toBe(code);
  });

  test('and as text it is a sentence with a code and a hint on stderr, and stdout stays empty', async () => {
    const run = await place.run(['stop', 'zzzzzzzz']);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toBe(
      'error There is no instance "zzzzzzzz". (INSTANCE_NOT_FOUND)\n      List the instances with: jackin status\n',
    );
  });
});

test('no colour code and no prompt is printed where nobody reads one', async () => {
  for (const args of [['status'], ['doctor'], ['--help'], ['purge', id]]) {
    const { stdout, stderr } = await place.run(args);
    expect(stdout + stderr).not.toContain('\u001b');
  }
});

test.each(['--json', '--detail'])('a result that does not fit where it goes is an error, with %s', (flag) => {
  const run = spawnSync('sh', ['-c', 'exec "$@" >/dev/full', 'sh', process.execPath, BIN, 'status', flag], {
    cwd: place.project,
    env: place.env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(run).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('(OUTPUT_FAILED)') });
});

test('a state directory that is not absolute is refused by name', async () => {
  const run = await place.run(['status', '--json'], { env: { JACKIN_HOME_DIR: 'relative' } });
  expect(document(run).error).toMatchObject({ code: 'PATH_NOT_ABSOLUTE' });
  expect(run.code).toBe(2);
});
