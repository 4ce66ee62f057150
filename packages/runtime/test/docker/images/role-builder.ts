import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { Engine } from '../../../../../tools/docker-lab/shared.ts';
import { type CountingEngine, countingEngine, imagesIn, launchOf, scratch } from './support.ts';

export const USER = '1000:1000';

/** Builds roles on an engine, with its requests counted, and looks at what came of it. For the body of a suite. */
export function roleBuilder(lab: () => Engine) {
  let root: Awaited<ReturnType<typeof scratch>>;
  let counted: CountingEngine;
  let number = 0;

  beforeAll(async () => {
    root = await scratch();
    counted = await countingEngine(lab().socket);
  });
  afterAll(async () => {
    await counted.close();
    await root.dispose();
  });

  const ensure = (
    source: Parameters<typeof launchOf>[0],
    user = USER,
    recorded?: Parameters<typeof launchOf>[2],
  ) => {
    const { images, events } = imagesIn(root.dir);
    return { events, result: images.ensure(counted.engine, launchOf(source, user, recorded)) };
  };

  return {
    root: () => root.dir,
    engine: () => counted.engine,
    /** How many builds there were since the last role. */
    builds: () => counted.builds(),
    /** The directory of a role of its own. */
    nextRole(): string {
      counted.requests.length = 0;
      return join(root.dir, `roles/role${++number}`);
    },
    ensure,
    build: (...args: Parameters<typeof ensure>) => ensure(...args).result,

    /** What somebody sees who lists everything. */
    async residue() {
      const [images, containers] = await Promise.all([
        lab().docker.listImages({ filters: { dangling: ['true'] } }),
        lab().docker.listContainers({ all: true }),
      ]);
      return { images: images.map(({ Id }) => Id), containers: containers.map(({ Id }) => Id) };
    },

    /** The output of a script in a container of the image. */
    async run(image: string, script: string): Promise<string> {
      const container = await lab().docker.createContainer({
        Image: image,
        Cmd: ['/bin/sh', '-c', script],
        Tty: true,
        HostConfig: { NetworkMode: 'none' },
      });
      try {
        const output = await container.attach({ stream: true, stdout: true, stderr: true });
        const text = new Promise<string>((resolve, reject) => {
          let all = '';
          output.on('data', (chunk: Buffer) => {
            all += chunk.toString();
          });
          output.on('end', () => resolve(all.replaceAll('\r\n', '\n')));
          output.on('error', reject);
        });
        await container.start();
        return await text;
      } finally {
        await container.remove({ force: true });
      }
    },
  };
}
