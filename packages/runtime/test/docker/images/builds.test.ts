import { join } from 'node:path';
import { beforeEach, expect, it } from '@jest/globals';
import { describeOnEngine } from '../../../../../tools/docker-lab/suite.ts';
import { roleBuilder, USER } from './role-builder.ts';
import { BASE, imagesIn, launchOf, refusal, writeRole } from './support.ts';

const TEST_MS = 300_000;

await describeOnEngine('disaster', 'The build of a role', (lab) => {
  const builder = roleBuilder(lab);
  const { build, residue, run } = builder;
  let role: string;
  beforeEach(() => {
    role = builder.nextRole();
  });

  it(
    'that fails names the step, its code and the end of its output, and leaves nothing behind',
    async () => {
      const before = await residue();
      await writeRole(role, {
        Dockerfile: `FROM ${BASE} AS first\nRUN echo stage > /s\nFROM ${BASE}\nRUN echo one > /1\nRUN seq 1 30; exit 3\n`,
      });
      const error = await refusal(build(role));
      expect(error).toMatchObject({
        code: 'IMAGE_BUILD_FAILED',
        details: { step: expect.stringContaining('RUN seq 1 30; exit 3'), exit_code: 3 },
      });
      expect(error.message).toContain('exit code 3 at "Step 5/');
      expect(error.hint).toContain(`Correct ${join(role, 'Dockerfile')}`);
      expect(error.details.log_tail).toEqual(Array.from({ length: 20 }, (_, i) => String(i + 11)));
      expect(await residue()).toEqual(before);
    },
    TEST_MS,
  );

  it(
    'that prints the id of an image without a name does not take that one along',
    async () => {
      const container = await lab().docker.createContainer({ Image: BASE, Cmd: ['true'] });
      const { Id: foreign } = (await container.commit({ comment: 'somebody keeps it by its id' })) as {
        Id: string;
      };
      await container.remove();
      const before = await residue();
      expect(before.images).toContain(foreign);
      const line = ` ---> ${foreign.slice(7, 19)}`;
      await writeRole(role, { Dockerfile: `FROM ${BASE}\nRUN echo '${line}'; exit 3\n` });
      await refusal(build(role));
      expect(await residue()).toEqual(before);
      await lab().docker.getImage(foreign).remove();
    },
    TEST_MS,
  );

  it(
    'leaves nothing without a name behind when a stage was only copied from',
    async () => {
      const before = await residue();
      await writeRole(role, {
        Dockerfile: `FROM ${BASE} AS first\nRUN echo stage > /s\nFROM ${BASE}\nCOPY --from=first /s /s\n`,
      });
      const { image_id: id } = await build(role);
      expect(await residue()).toEqual(before);
      expect(await run(id, 'cat /s')).toBe('stage\n');
    },
    TEST_MS,
  );

  it(
    'that is interrupted leaves nothing behind, and can be built afterwards',
    async () => {
      const before = await residue();
      await writeRole(role, {
        Dockerfile: `FROM ${BASE}\nRUN echo one > /1\nRUN echo waiting; test -e /2 || sleep 600\n`,
      });
      const stop = new AbortController();
      const reason = new Error('interrupted');
      const { images, events } = imagesIn(builder.root());
      const waiting = setInterval(() => {
        if (events.some((event) => event.type === 'debug' && event.message === 'waiting')) stop.abort(reason);
      }, 20);
      try {
        const launch = launchOf(role, USER, undefined, stop.signal);
        await expect(images.ensure(builder.engine(), launch)).rejects.toBe(reason);
      } finally {
        clearInterval(waiting);
      }
      expect(await residue()).toEqual(before);
      await writeRole(role, { Dockerfile: `FROM ${BASE}\nRUN echo one > /1\n` });
      expect((await build(role)).built).toBe(true);
    },
    TEST_MS,
  );

  it(
    'of a text that is no Dockerfile is refused in the words of the engine',
    async () => {
      await writeRole(role, { Dockerfile: `FROM ${BASE}\nMAKE it so\n` });
      const error = await refusal(build(role));
      expect(error.code).toBe('IMAGE_BUILD_FAILED');
      expect(error.message.toLowerCase()).toContain('unknown instruction: make');
    },
    TEST_MS,
  );

  it(
    'on a base without what it needs says so',
    async () => {
      await writeRole(role, { Dockerfile: 'FROM scratch\nCOPY file /file\n', file: 'x' });
      const error = await refusal(build(role));
      expect(error.code).toBe('IMAGE_BUILD_FAILED');
      expect(error.hint).toContain('that has /bin/sh, mkdir, chown and chmod');
    },
    TEST_MS,
  );

  it(
    'on a base that cannot be had names the base and how to get it',
    async () => {
      await writeRole(role, { Dockerfile: 'ARG TAG=1\nFROM nowhere.invalid/no/such:$TAG\nRUN true\n' });
      const error = await refusal(build(role));
      expect(error).toMatchObject({
        code: 'IMAGE_BASE_UNAVAILABLE',
        hint: 'Get it with: docker pull nowhere.invalid/no/such:1',
        details: { base: 'nowhere.invalid/no/such:1' },
      });
      expect(builder.builds()).toBe(0);
    },
    TEST_MS,
  );
});
