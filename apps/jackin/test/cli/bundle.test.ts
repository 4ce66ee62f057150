import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { commands } from '../../src/commands.ts';
import { BUNDLE, openPlace, type Place } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let place: Place;
beforeAll(() => {
  place = openPlace();
});
afterAll(() => place.dispose());

describe('the bundle', () => {
  test('has the launcher, the command line and the capsule, and needs nothing but Node and the terminal library', () => {
    const files = readdirSync(BUNDLE);
    expect(files).toEqual(expect.arrayContaining(['bin.js', 'main.js', 'commands.js', 'capsule.mjs']));
    expect(existsSync(join(BUNDLE, 'roles/shell/Dockerfile'))).toBe(true);
    for (const file of files.filter((name) => /\.m?js$/.test(name))) {
      const imported = [
        ...readFileSync(join(BUNDLE, file), 'utf8').matchAll(/^import .*? from "([^"]+)";$/gm),
      ];
      for (const [, name = ''] of imported) expect(name).toMatch(/^(node:|\.\/|[a-z_/]+$)/);
    }
  });

  test('prints help without a command, and for every command', async () => {
    const bare = await place.run([]);
    expect(bare).toMatchObject({ code: 0, stderr: '' });
    const first = Object.keys(commands).map((name) => name.split(':')[0]);
    for (const name of new Set(first)) expect(bare.stdout).toContain(`  ${name}`);
    for (const name of ['load', 'ps']) {
      const help = await place.run([name, '--help']);
      expect(help).toMatchObject({ code: 0, stderr: '' });
      expect(help.stdout).toContain('USAGE');
    }
    expect((await place.run(['help', 'resume'])).stdout).toContain('--accept-loss');
  });

  test('says its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const run = await place.run(['--version']);
    expect(run.stdout).toMatch(new RegExp(`^jackin/${version.replaceAll('.', '\\.')} `));
  });

  test('suggests the command that was probably meant', async () => {
    expect((await place.run(['stauts'])).stderr).toContain('jackin status --help');
    expect((await place.run(['hard'])).stderr).toContain('jackin hardline --help');
  });

  test('makes nothing in the state directory by being asked for help or status', async () => {
    await place.run(['--help']);
    await place.run(['status']);
    expect(existsSync(place.env.JACKIN_HOME_DIR as string)).toBe(false);
  });
});

describe('the launcher', () => {
  const asNode = (version: string) => ({
    nodeArgs: [
      '--import',
      `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`,
    ],
  });

  test.each(['18.20.8', '20.19.0', '22.21.9', '23.5.0', '24.14.0'])(
    'on Node %s prints one sentence, imports nothing and exits 1',
    async (version) => {
      const run = await place.run(['status', '--json'], asNode(version));
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toMatch(
        new RegExp(`^jackin needs Node .* this is Node ${version.replaceAll('.', '\\.')}.*\\n$`),
      );
    },
  );

  test.each(['22.22.0', '24.15.0', '26.0.0'])('runs on Node %s', async (version) => {
    expect(await place.run(['--version'], asNode(version))).toMatchObject({ code: 0 });
  });

  test("keeps compiled code in the user's own cache directory", async () => {
    const cache = join(place.root, 'cache');
    await place.run(['--version'], { env: { XDG_CACHE_HOME: cache, NODE_COMPILE_CACHE: '' } });
    expect(readdirSync(join(cache, 'jackin', 'compile')).length).toBeGreaterThan(0);
  });
});

test('a failure nobody foresaw is one sentence with a hint, never a stack trace', async () => {
  const late =
    "const t=setInterval(()=>{if(process.listenerCount('uncaughtException')===0)return;clearInterval(t);throw new Error('boom')},1)";
  const run = await place.run(['doctor'], { nodeArgs: ['--import', `data:text/javascript,${late}`] });
  expect(run).toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'error Unexpected failure: boom (INTERNAL)\n      Run the command again with --debug and report the output.\n',
  });
});

test('the journal named by JACKIN_LOG gets one line of JSON for every step', async () => {
  const journal = join(place.root, 'journal.ndjson');
  const env = { JACKIN_LOG: journal };
  const { stdout } = await place.run(
    ['load', 'shell', '.', '--backend', 'standalone', '--detach', '--json', '--new', '--', 'sleep', '600'],
    { env },
  );
  const { instance_id: id } = JSON.parse(stdout).data;
  const plan = JSON.parse((await place.run(['purge', id, '--dry-run', '--json'])).stdout).data.plan;
  await place.run(['purge', id, '--yes'], { env });
  const lines = readFileSync(journal, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const steps = lines.filter((line) => line.type === 'step' && line.state !== 'started');
  const cleaned = steps.slice(-plan.steps.length).map((line) => line.op);
  expect(cleaned).toEqual(plan.steps.map((step: { op: string }) => step.op));
  expect(lines.every((line) => typeof line.pid === 'number' && typeof line.at === 'string')).toBe(true);
});
