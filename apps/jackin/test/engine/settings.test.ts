import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { createEngineSandbox, type EngineSandbox } from './support/engine-sandbox.ts';

const LIMIT = 240_000;
const WORKING = ['sh', '-c', 'while :; do sleep 1; done'];

await describeOnEngine('harmless', 'what [docker] configures', (engine) => {
  let sandbox: EngineSandbox;

  beforeAll(() => {
    sandbox = createEngineSandbox(engine());
    mkdirSync(join(sandbox.root, 'cache'));
    writeFileSync(join(sandbox.root, 'cache/package'), 'there');
    sandbox.writeConfig(
      [
        '[docker.grants]',
        'memory = "256m"',
        'cpus = 0.5',
        'pids = 100',
        '[docker.mounts.cache]',
        `src = "${join(sandbox.root, 'cache')}"`,
        'dst = "/cache"',
        'readonly = true',
        '',
      ].join('\n'),
    );
  });
  afterAll(() => sandbox.dispose(), LIMIT);

  test(
    'holds for every session, and a flag of load wins value by value',
    async () => {
      const instance = await sandbox.load(WORKING, ['--pids', '50']);
      const { HostConfig: host } = await sandbox.container(instance).inspect();
      expect(host).toMatchObject({ Memory: 256 * 1024 ** 2, NanoCpus: 5e8, PidsLimit: 50 });
      expect(await sandbox.exec(instance, 'cat', '/cache/package')).toBe('there');
      await expect(sandbox.exec(instance, 'touch', '/cache/new')).rejects.toThrow('Read-only file system');
    },
    LIMIT,
  );
});
