import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { chooseBackend, type TourFinding } from '../tour/backend.ts';
import { endRunningTours, runTour, traces, writeBrokenCli } from './support/tour.ts';

// Each runs a good part of the tour, and other suites run beside it.
jest.setTimeout(300_000);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'jk-broken-'));
});
afterEach(async () => {
  await endRunningTours();
  rmSync(dir, { recursive: true, force: true });
});

test.each([
  [
    'that loses the home',
    `if (args[0] === 'resume')
  for (const file of fs.globSync(state + '/data/*/home/memory.txt')) fs.rmSync(file);`,
    'The tour failed: memory.txt in the home of the session should be "remembered in its home\\n" and is null',
  ],
  [
    'that starts another instance instead',
    `if (args[0] === 'resume') {
  const { stdout } = real(['load', 'shell', process.cwd(), '--agent', 'shell', '--new', '--detach', '--json',
    '--backend', 'standalone']);
  const document = JSON.parse(stdout);
  document.data.tier = 1;
  process.stdout.write(JSON.stringify(document));
  process.exit(0);
}`,
    'The tour failed: resumed instance should be',
  ],
  [
    'that claims what it did not do',
    `if (args[0] === 'resume') {
  const document = { schema_version: 'v1', data: { instance_id: args[1], tier: 1, did_not_return: [] } };
  process.stdout.write(JSON.stringify(document));
  process.exit(0);
}`,
    'The tour failed: ',
  ],
  ['that fails', `if (args[0] === 'resume') process.exit(1);`, 'The tour failed: "jackin resume'],
])('A resume %s makes the tour fail and leaves nothing', async (_what, intercept, message) => {
  const run = await runTour({ args: ['--cli', writeBrokenCli(dir, intercept)] });
  expect(run.output).toContain(message);
  expect(run).toMatchObject({ code: 1, leftovers: [] });
});

test('A clean-up that leaves a directory makes the tour fail', async () => {
  const intercept = `if (args[0] === 'stop' && args.includes('--clean')) {
  const { stdout, status } = real(args);
  fs.mkdirSync(state + '/data/' + /^\\s*(jk-\\S+) was cleaned up/m.exec(stdout)[1]);
  process.stdout.write(stdout);
  process.exit(status);
}`;
  const run = await runTour({ args: ['--cli', writeBrokenCli(dir, intercept)] });
  expect(run.output).toMatch(/The tour failed: what is left of jk-\S+ should be \[\]/);
  expect(run).toMatchObject({ code: 1, leftovers: [] });
});

test.each([
  ['while a session starts', 'SIGTERM', '$ jackin load', 143],
  ['while somebody types in the session', 'SIGINT', '$ jackin hardline', 130],
  ['after the session was lost', 'SIGHUP', '$ kill -9', 129],
  ['while the session comes back', 'SIGINT', '$ jackin resume', 130],
] as const)('A tour interrupted %s (%s) leaves nothing', async (_when, signal, after, code) => {
  const run = await runTour({ interrupt: { after, signal } });
  expect(run.output).toContain(`Interrupted by ${signal}.`);
  expect(run).toMatchObject({ code, leftovers: [] });
});

test('A tour whose reader goes away leaves nothing', async () => {
  const run = await runTour({ interrupt: { after: '$ jackin status', signal: 'reader' } });
  expect(run).toMatchObject({ code: 141, leftovers: [] });
});

test('A tour that was killed is swept by the next one', async () => {
  const killed = await runTour({
    temporary: dir,
    interrupt: { after: '$ jackin status', signal: 'SIGKILL' },
  });
  expect(killed.code).toBeNull();
  expect(killed.leftovers).not.toEqual([]);
  const next = await runTour({ temporary: dir, interrupt: { after: 'backend ', signal: 'SIGINT' } });
  expect(next.output).toMatch(/^swept +\S+\/jk-tour-\S+, left by a tour that was killed$/m);
  expect(next).toMatchObject({ code: 130, leftovers: [] });
  expect(await traces(killed.output)).toEqual([]);
});

test('Without an engine the tour says so and runs with standalone, and another one does not sweep it', async () => {
  const runs = Promise.withResolvers<void>();
  const first = runTour({ temporary: dir, interrupt: { after: '$ jackin load', signal: runs.resolve } });
  await runs.promise;
  const second = await runTour({ temporary: dir, interrupt: { after: 'backend ', signal: 'SIGINT' } });
  expect(second.output).not.toContain('swept');
  const { output, ...end } = await first;
  expect(output).toMatch(/^backend +standalone \(no container engine answers: .*nonexistent/m);
  expect(end).toEqual({ code: 0, leftovers: [] });
});

test('The tour takes Docker when doctor found an engine that answers', () => {
  const findings: TourFinding[] = [
    { check: 'backend', severity: 'ok', message: 'docker is the default' },
    { check: 'docker.engine', severity: 'ok', message: 'unix:///run/docker.sock answers' },
    { check: 'docker.version', severity: 'warning', message: 'the engine is old' },
  ];
  expect(chooseBackend(findings)).toEqual({ backend: 'docker', because: 'unix:///run/docker.sock answers' });
});

test('It takes standalone and says why when no engine answers, or only one behind a network', () => {
  const silent: TourFinding = { check: 'docker.endpoint', severity: 'error', message: 'no engine answers' };
  const remote: TourFinding[] = [
    { check: 'docker.endpoint', severity: 'ok', message: 'tcp://far:2375 answers' },
    { check: 'docker.remote', severity: 'warning', message: 'the engine is reached over the network' },
  ];
  const missing: TourFinding = { check: 'backend', severity: 'error', message: 'this version has no docker' };
  const standalone = (because: string) => ({ backend: 'standalone', because });
  expect(chooseBackend([silent])).toEqual(standalone('no engine answers'));
  expect(chooseBackend(remote)).toEqual(standalone('the engine is reached over the network'));
  expect(chooseBackend([missing])).toEqual(standalone('this version has no docker'));
  expect(chooseBackend([])).toMatchObject({ backend: 'standalone' });
});
