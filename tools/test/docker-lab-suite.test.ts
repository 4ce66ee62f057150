import { describe, expect, jest, test } from '@jest/globals';
import { BASE_IMAGE } from '../docker-lab/index.ts';
import { describeOnEngine } from '../docker-lab/suite.ts';
import { runJest } from './support/lab.ts';

// Each runs jest, and other suites run beside it.
jest.setTimeout(120_000);

await describeOnEngine('harmless', 'The engine of all harmless suites', (engine) => {
  test('has the base image, with what a capsule and a project need', async () => {
    const container = await engine().docker.createContainer({
      Image: BASE_IMAGE,
      Cmd: [
        'bash',
        '-c',
        'git --version && ps --version && ls /usr/lib/*/libstdc++.so.6 /etc/ssl/certs/ca-certificates.crt',
      ],
    });
    await container.start();
    expect(await container.wait()).toMatchObject({ StatusCode: 0 });
    await container.remove();
  });

  test('is given an image without glibc on demand', async () => {
    const container = await engine().docker.createContainer({
      Image: await engine().noGlibcImage(),
      Cmd: ['sh', '-c', '! ls /lib* /usr/lib*'],
    });
    await container.start();
    expect(await container.wait()).toMatchObject({ StatusCode: 0 });
    await container.remove();
  });
});

describe('A machine that cannot run a private engine', () => {
  const nobody = { DOCKER_HOST: 'unix:///nonexistent/docker.sock' };

  test.each(['harmless', 'disaster'])('skips a %s suite and says how many tests that are', async (kind) => {
    const { code, stderr } = await runJest(suiteFor(kind), { ...nobody, CI: '' });
    expect(stderr).toContain('2 skipped, 2 total');
    expect(stderr).toContain('Skipped for want of an engine: Some engine (a private engine needs root');
    expect(code).toBe(0);
  });

  test('fails a suite with CI=true instead', async () => {
    const { code, stderr } = await runJest(suiteFor('harmless'), { ...nobody, CI: 'true' });
    expect(stderr).toContain('No engine for "Some engine": a private engine needs root');
    expect(code).toBe(1);
  });
});

await describeOnEngine('harmless', "An operator's own engine", (engine) => {
  test.each([
    ['harmless', '2 passed, 2 total'],
    ['disaster', '2 skipped, 2 total'],
  ])('is looked at by %s suites: %s', async (kind, summary) => {
    const { ID } = await engine().docker.info();
    const { stderr } = await runJest(suiteFor(kind), { ...engine().env, EXPECTED_ENGINE: ID, CI: '' });
    expect(stderr).toContain(summary);
  });
});

/** A suite as an operator without root runs it. */
function suiteFor(kind: string): string {
  return `process.getuid = () => 1000;
const { describeOnEngine } = await import('LAB/suite.ts');
await describeOnEngine('${kind}', 'Some engine', (engine) => {
  test('one', async () => expect((await engine().docker.info()).ID).toBe(process.env.EXPECTED_ENGINE));
  test('two', () => expect(engine().env.DOCKER_HOST).toBe(process.env.DOCKER_HOST));
});`;
}
