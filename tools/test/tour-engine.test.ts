import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { BASE_IMAGE } from '../docker-lab/index.ts';
import { describeOnEngine } from '../docker-lab/suite.ts';
import { endRunningTours, instancesIn, onEngine, runTour } from './support/tour.ts';

// Each runs a good part of the tour, and other suites run beside it.
jest.setTimeout(300_000);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'jk-tour-engine-'));
});
afterEach(async () => {
  await endRunningTours();
  rmSync(dir, { recursive: true, force: true });
});

await describeOnEngine('harmless', 'The tour on Docker', (engine) => {
  test('takes the engine that answers, loses the container, then all of it, and leaves nothing', async () => {
    const { docker, env } = engine();
    const run = await runTour({ env });
    expect(run.output).toContain(`backend  docker (${env.DOCKER_HOST} answers (DOCKER_HOST))`);
    expect(run.output).toContain('Get it back: the same container');
    expect(run.output).toContain('cat: /var/tmp/layer.txt: No such file or directory');
    expect(run.output).toMatch(/nothing is left behind but the image of the role \(jk_shell:\w+\)/);
    expect(run).toMatchObject({ code: 0, leftovers: [] });
    expect(instancesIn(run.output)).toHaveLength(2);
    expect(await onEngine(docker, instancesIn(run.output))).toEqual([]);
  });

  test.each([
    ['while a session starts', '$ jackin load', 'SIGTERM', 143],
    ['while somebody types in the session', '$ jackin hardline', 'SIGINT', 130],
  ] as const)('interrupted %s leaves nothing', async (_when, after, signal, code) => {
    const { docker, env } = engine();
    const run = await runTour({ env, temporary: dir, interrupt: { after, signal } });
    expect(run).toMatchObject({ code, leftovers: [] });
    expect(await onEngine(docker, [dir, ...instancesIn(run.output)])).toEqual([]);
  });

  test('that was killed is swept by the next one', async () => {
    const { docker, env } = engine();
    const interrupt = { after: '$ jackin hardline', signal: 'SIGKILL' } as const;
    const killed = await runTour({ env, temporary: dir, interrupt });
    expect(await onEngine(docker, [dir])).toHaveLength(1);
    const next = await runTour({ env, temporary: dir, interrupt: { after: 'backend ', signal: 'SIGINT' } });
    expect(next).toMatchObject({ code: 130, leftovers: [] });
    expect(next.output).toMatch(/^swept /m);
    expect(await onEngine(docker, [dir, ...instancesIn(killed.output)])).toEqual([]);
  });
});

await describeOnEngine('disaster', 'The tour on an engine without the base image', (lab) => {
  test('says that no image can be built and starts over with standalone', async () => {
    const { docker, env } = lab();
    await docker.getImage(BASE_IMAGE).remove({ force: true });
    const run = await runTour({ env });
    expect(run.output).toMatch(/^backend +docker /m);
    expect(run.output).toMatch(/^!! No session can be started on Docker here.*\n +IMAGE_BASE_UNAVAILABLE: /m);
    expect(run.output).toMatch(/^backend +standalone \(the engine cannot start a session of the role/m);
    expect(run).toMatchObject({ code: 0, leftovers: [] });
    expect(await onEngine(docker, ['jk-'])).toEqual([]);
  });
});
