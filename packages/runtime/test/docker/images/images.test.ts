import { chmod, chown, symlink, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JackinEvent } from '@jackin/core';
import { beforeEach, expect, it } from '@jest/globals';
import { describeOnEngine } from '../../../../../tools/docker-lab/suite.ts';
import { describeImage } from '../../../src/docker/images/index.ts';
import { gitRole } from '../../flows/git-role.ts';
import { roleBuilder, USER } from './role-builder.ts';
import { BASE, refusal, writeRole } from './support.ts';

const TEST_MS = 300_000;

await describeOnEngine('disaster', 'The image of a role', (lab) => {
  const builder = roleBuilder(lab);
  const { build, ensure, run } = builder;
  let role: string;
  beforeEach(() => {
    role = builder.nextRole();
  });

  it.each(['1000:1000', '0:0', '4242:4343'])(
    'of the shipped role shell has a user %s at home, and nothing that runs by itself',
    async (user) => {
      const built = await build('builtin:shell', user);
      const [uid, gid] = user.split(':');
      const name = uid === '0' ? 'root' : 'agent';
      const script =
        'id; getent passwd "$(id -u)"; unset HOME; bash -c "echo ~"; stat -c %u:%g /home/agent; for tool in git ps; do command -v $tool; done';
      expect((await run(built.image_id, script)).split('\n')).toEqual([
        `uid=${uid}(${name}) gid=${gid}(${name}) groups=${gid}(${name})`,
        uid === '0'
          ? 'root:x:0:0:root:/home/agent:/bin/bash'
          : `agent:*:${uid}:${gid}::/home/agent:/bin/bash`,
        '/home/agent',
        user,
        '/usr/bin/git',
        '/usr/bin/ps',
        '',
      ]);
      const { Config } = await lab().docker.getImage(built.image_id).inspect();
      expect(Config.Entrypoint).toBeNull();
      expect(Config.Cmd ?? []).toEqual([]);
      expect(Config.User).toBe(user);
      expect(Config.Labels).toMatchObject({
        'jackin.managed': 'true',
        'jackin.kind': 'image',
        'jackin.role': 'shell',
        'jackin.context': expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    },
    TEST_MS,
  );

  it(
    'from a repository is built from its recorded commit, which is its tag, whatever the repository is at by now',
    async () => {
      const repository = gitRole(role);
      const recorded = { source: repository.url, ref: null, commit: repository.first };
      const { commit } = repository;
      commit({ Dockerfile: `FROM ${BASE}\nRUN exit 9\n`, 'jackin.role.toml': 'version = "v2"\n' });
      const built = await build(recorded);
      expect(built).toMatchObject({
        built: true,
        image_tag: `jk_${basename(role)}:${repository.first.slice(0, 7)}`,
      });
      expect(await build(recorded)).toMatchObject({ built: false, image_id: built.image_id });
      expect(builder.builds()).toBe(1);
    },
    TEST_MS,
  );

  it('is told by the id of its base where the base came from no registry', async () => {
    const { Id } = await lab().docker.getImage(BASE).inspect();
    await writeRole(role, { Dockerfile: `FROM ${BASE} AS a\nRUN echo 1 > /1\nFROM a\n` });
    const first = await build(role);
    const base = { ref: BASE, digest: null, image_id: Id };
    expect(first).toMatchObject({ built: true, bases: [base], base });
    // Of an image that is there already, too, whatever the tag names by now.
    expect(await build(role)).toEqual({ ...first, built: false });
  });

  it(
    'is built once for equal loads, and anew for a mode, a link, an owner, a user and an argument',
    async () => {
      await writeRole(role, { Dockerfile: `FROM ${BASE}\nARG A\nCOPY file link /src/\n`, file: 'x' });
      await symlink('file', join(role, 'link'));
      const first = await build(role);
      expect(builder.builds()).toBe(1);
      expect(await build(role)).toEqual({ ...first, built: false });
      expect(builder.builds()).toBe(1);

      await chmod(join(role, 'file'), 0o755);
      const second = await build(role);
      expect(second.image_id).not.toBe(first.image_id);
      expect(builder.builds()).toBe(2);
      await unlink(join(role, 'link'));
      await symlink('./file', join(role, 'link'));
      await build(role);
      expect(builder.builds()).toBe(3);
      await chown(join(role, 'file'), 1234, 1234);
      await build(role);
      expect(builder.builds()).toBe(4);
      await build(role, '1001:1000');
      expect(builder.builds()).toBe(5);
      await build(role, USER, { args: { A: '1' } });
      expect(builder.builds()).toBe(6);
      await build(role, USER, { args: { A: '1' } });
      expect(builder.builds()).toBe(6);
      expect(await run(second.image_id, 'stat -c "%a %F" /src/file')).toBe('755 regular file\n');
    },
    TEST_MS,
  );

  it(
    'is built once for loads at the same time',
    async () => {
      await writeRole(role, { Dockerfile: `FROM ${BASE}\nRUN sleep 1\n` });
      const all = await Promise.all(Array.from({ length: 4 }, () => build(role)));
      expect(builder.builds()).toBe(1);
      expect(new Set(all.map(({ image_id }) => image_id)).size).toBe(1);
      expect(all.filter(({ built }) => built)).toHaveLength(1);
    },
    TEST_MS,
  );

  it(
    'tells every step',
    async () => {
      await writeRole(role, { Dockerfile: `FROM ${BASE}\nRUN echo hello\n` });
      const { events, result } = ensure(role);
      const { image_tag: tag } = await result;
      const stages = events.filter((event) => event.type === 'stage');
      const details = stages.map(({ detail }) => detail ?? '');
      expect(details).toContainEqual(expect.stringMatching(/^Step 2\/\d+ : RUN echo hello$/));
      expect(details).toContainEqual(
        expect.stringMatching(/^Step 4\/\d+ : RUN \(user and directories, added by jackin\)$/),
      );
      expect(stages.at(-1)).toMatchObject({
        state: 'done',
        stage: 'image',
        detail: tag,
        elapsed_ms: expect.any(Number),
      });
      const lines = events.filter(
        (event): event is JackinEvent & { type: 'debug' } => event.type === 'debug',
      );
      expect(lines.map(({ message }) => message)).toContain('hello');
    },
    TEST_MS,
  );

  it(
    'is never what somebody gave its name to',
    async () => {
      await writeRole(role, { Dockerfile: `FROM ${BASE}\nRUN echo real > /who\n` });
      const first = await build(role);
      const [repo = '', tag = ''] = first.image_tag.split(':');
      const { Id: baseId } = await lab().docker.getImage(BASE).inspect();
      // Another image; and one that was made of ours and inherits every label.
      const container = await lab().docker.createContainer({ Image: first.image_id, Cmd: ['true'] });
      const { Id: committed } = (await container.commit({})) as { Id: string };
      await container.remove();
      for (const other of [baseId, committed]) {
        await lab().docker.getImage(other).tag({ repo, tag });
        const { events, result } = ensure(role);
        const again = await result;
        expect(again).toMatchObject({ built: true, image_tag: first.image_tag });
        expect(await run(again.image_id, 'cat /who')).toBe('real\n');
        expect((await lab().docker.getImage(first.image_tag).inspect()).Id).toBe(again.image_id);
        expect(events).toContainEqual(
          expect.objectContaining({ code: 'IMAGE_TAG_MOVED', message: expect.stringContaining(other) }),
        );
        // It lost a name it should not have had, and nothing else.
        expect((await lab().docker.getImage(other).inspect()).Id).toBe(other);
      }
      await lab().docker.getImage(committed).remove();
    },
    TEST_MS,
  );

  it(
    'is not built from a directory that is not what the launch was prepared with',
    async () => {
      await writeRole(role, { Dockerfile: `FROM ${BASE}\n` });
      const image = await describeImage({
        roleDir: role,
        roleKey: basename(role),
        user: { uid: 1000, gid: 1000 },
        args: {},
      });
      const recorded = { args: {}, context_hash: image.context_hash };
      expect((await build(role, USER, recorded)).image_tag).toBe(image.image_tag);
      await writeRole(role, { Dockerfile: `FROM ${BASE}\nRUN true\n` });
      expect((await refusal(build(role, USER, recorded))).code).toBe('ROLE_CHANGED');
    },
    TEST_MS,
  );

  it(
    'is built by BuildKit where the Dockerfile wants it',
    async () => {
      await writeRole(role, {
        Dockerfile: `FROM ${BASE}\nRUN --mount=type=cache,target=/c echo kept > /k && echo said\n`,
      });
      const { events, result } = ensure(role);
      const built = await result;
      expect(await run(built.image_id, 'cat /k; getent passwd 1000')).toBe(
        'kept\nagent:*:1000:1000::/home/agent:/bin/bash\n',
      );
      expect(events).toContainEqual(expect.objectContaining({ type: 'debug', message: 'said' }));
      expect((await build(role)).built).toBe(false);
      await writeRole(role, {
        Dockerfile: `FROM ${BASE}\nRUN --mount=type=cache,target=/c echo last words; exit 5\n`,
      });
      expect(await refusal(build(role))).toMatchObject({
        code: 'IMAGE_BUILD_FAILED',
        details: { exit_code: 5, step: expect.stringContaining('exit 5'), log_tail: ['last words'] },
      });
    },
    TEST_MS,
  );
});
