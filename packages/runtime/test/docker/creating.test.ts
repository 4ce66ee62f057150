import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, jest } from '@jest/globals';
import { startCountingProxy } from '../../../../tools/docker-lab/counting-proxy.ts';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { onEngine, seen, traces } from './support/on-engine.ts';
import { BASE_IMAGE, freshSignal, labImages } from './support/subject.ts';

jest.setTimeout(120_000);

await describeOnEngine('harmless', 'creating on an engine', (engine) => {
  const { subject: make, cleanUp } = onEngine(engine);

  it('makes network and container with our labels, and puts no secret into their configuration', async () => {
    const limits = { memory_bytes: 256 * 1024 * 1024, cpus: 1, pids: 200 };
    const subject = await make({
      recipe: (recipe) => ({
        ...recipe,
        env: [{ name: 'TOKEN', source: '$CANARY_NAME' }],
        run: { ...recipe.run, limits },
      }),
    });
    await subject.prepare();
    const made = await subject.backend.create(subject.context());
    expect(made.created).toEqual([`network ${subject.base}-net`, `container ${subject.base}`]);
    const { docker } = engine();
    const container = await docker.getContainer(subject.base).inspect();
    expect(container.Config.Labels).toMatchObject({
      'jackin.managed': 'true',
      'jackin.instance': subject.id,
    });
    expect(container.Image).toBe(made.image_id);
    expect(container.HostConfig).toMatchObject({
      Memory: limits.memory_bytes,
      NanoCpus: 1e9,
      PidsLimit: 200,
      Init: true,
    });
    expect(JSON.stringify(container)).not.toContain('CANARY_NAME');
    const network = await docker.getNetwork(`${subject.base}-net`).inspect();
    expect(network.Labels).toEqual({ 'jackin.managed': 'true', 'jackin.role': subject.base });
  });

  it('O47: leaves a foreign container with our name alone, names it, and makes nothing', async () => {
    const { docker } = engine();
    const subject = await make();
    const foreign = await docker.createContainer({ name: subject.base, Image: BASE_IMAGE, Cmd: ['true'] });
    await subject.prepare();
    const { backend } = subject;
    expect((await seen(subject)).container).toEqual({ state: 'foreign', name: subject.base });
    const taken = { code: 'NAME_TAKEN_BY_FOREIGN', message: expect.stringContaining(subject.base) };
    await expect(backend.create(subject.context())).rejects.toMatchObject(taken);
    await expect(backend.start(subject.context())).rejects.toMatchObject(taken);
    await expect(backend.rename(subject.ref(), `${subject.base}-x`, freshSignal())).rejects.toMatchObject(
      taken,
    );
    await expect(backend.remove(subject.ref(), 'container', freshSignal())).rejects.toMatchObject(taken);
    await backend.stop(subject.ref(), 0, freshSignal());
    expect(await backend.changedPaths(subject.ref(), freshSignal())).toBeNull();
    expect(await traces(docker, subject)).toEqual([subject.base]);
    expect((await foreign.inspect()).State.Status).toBe('created');
  });

  it('O47: uses a container of ours that another process made, also in the same moment', async () => {
    const subject = await make();
    await subject.prepare();
    const both = await Promise.all([
      subject.backend.create(subject.context()),
      subject.backend.create(subject.context()),
    ]);
    expect(both.flatMap(({ created }) => created).filter((one) => one.startsWith('container'))).toHaveLength(
      1,
    );
    expect((await subject.backend.create(subject.context())).created).toEqual([]);
    expect(await traces(engine().docker, subject)).toEqual([subject.base, `${subject.base}-net`]);
  });

  it('O47: leaves a foreign network with our name alone and makes nothing', async () => {
    const { docker } = engine();
    const subject = await make();
    const network = await docker.createNetwork({ Name: `${subject.base}-net` });
    await subject.prepare();
    const taken = {
      code: 'NAME_TAKEN_BY_FOREIGN',
      details: { kind: 'network', name: `${subject.base}-net` },
    };
    await expect(subject.backend.create(subject.context())).rejects.toMatchObject(taken);
    await expect(subject.backend.remove(subject.ref(), 'network', freshSignal())).rejects.toMatchObject(
      taken,
    );
    expect((await seen(subject)).network).toBe('foreign');
    expect(await traces(docker, subject)).toEqual([`${subject.base}-net`]);
    expect((await network.inspect()).Id).toBe(network.id);
  });

  it('names a mount source that is gone, leaves nothing half made, and works once it is back', async () => {
    const subject = await make();
    await subject.prepare();
    await rename(subject.workdir, `${subject.workdir}.away`);
    await expect(subject.backend.create(subject.context())).rejects.toMatchObject({
      code: 'MOUNT_SOURCE_MISSING',
      message: expect.stringContaining(subject.workdir),
      details: { path: subject.workdir },
    });
    expect(await traces(engine().docker, subject)).toEqual([]);
    expect(await readdir(subject.root)).not.toContain('project');
    await rename(`${subject.workdir}.away`, subject.workdir);
    expect((await subject.backend.create(subject.context())).created).toHaveLength(2);
  });

  it('O54: an image that is gone is an error that names it, and nothing is made', async () => {
    const subject = await make();
    await subject.prepare();
    const id = `sha256:${'0'.repeat(64)}`;
    const restoring = subject.context(freshSignal(), { ...subject.recipe, image_id: id });
    await expect(subject.backend.create(restoring)).rejects.toMatchObject({
      code: 'IMAGE_GONE',
      message: expect.stringContaining(id),
    });
    expect(await traces(engine().docker, subject)).toEqual([]);
  });

  it('O44: a restore uses its image by id, whatever its tag says, and builds nothing', async () => {
    const { docker } = engine();
    const { image_id: id } = await labImages(docker).ensure(null as never, null as never);
    const subject = await make({ images: { ensure: () => Promise.reject(new Error('built')) } });
    await subject.prepare();
    const recipe = { ...subject.recipe, image_id: id, image_tag: 'jk_shell:never-there' };
    const { image_id: used } = await subject.backend.create(subject.context(freshSignal(), recipe));
    expect(used).toBe(id);
    expect((await docker.getContainer(subject.base).inspect()).Config.Labels['jackin.image']).toBe(
      recipe.image_tag,
    );
  });

  it('refuses an image that cannot run the capsule, with the words of its loader, and leaves no probe', async () => {
    const { docker } = engine();
    const tag = await engine().noGlibcImage();
    const subject = await make({ images: labImages(docker, tag), ownCache: true });
    await subject.prepare();
    const failed = subject.backend.create(subject.context());
    await expect(failed).rejects.toMatchObject({
      code: 'IMAGE_INCOMPATIBLE',
      message: expect.stringContaining(tag),
    });
    expect(await traces(docker, subject)).toEqual([]);
    expect(await probes()).toEqual([]);
  });

  it('tries an image once, and not again for the next instance', async () => {
    const { socket } = engine();
    const proxy = await startCountingProxy(socket);
    cleanUp(() => proxy.close());
    // The probe listens to a stream, which the proxy lets pass only one way: enough for its one line.
    const first = await make({ ownCache: true });
    await first.prepare();
    await first.backend.create(first.context());
    expect(await readdir(join(first.paths.cacheDir, 'preflight'))).toHaveLength(1);
    expect(await probes()).toEqual([]);
    await first.backend.remove(first.ref(), 'container', freshSignal());
    const { createDockerBackend } = await import('../../src/docker/adapter.ts');
    const again = createDockerBackend({ ...first.options, env: { HOME: first.root, ...proxy.env } });
    await again.create(first.context());
    expect(proxy.requests.filter((one) => one === 'POST /containers/create')).toHaveLength(1);
  });

  it('refuses a mount where its own things are, before anything is made', async () => {
    const subject = await make({
      recipe: (recipe) => ({
        ...recipe,
        mounts: [
          ...recipe.mounts,
          { src: '/etc', dst: '/jackin/runtime', isolation: 'shared', readonly: true },
        ],
      }),
    });
    await subject.prepare();
    await expect(subject.backend.create(subject.context())).rejects.toMatchObject({ code: 'MOUNT_CONFLICT' });
    expect(await traces(engine().docker, subject)).toEqual([]);
  });

  it('makes the directories of the instance for its user', async () => {
    const subject = await make();
    await subject.prepare();
    await mkdir(subject.place.home, { recursive: true });
    await subject.backend.create(subject.context());
    const { stat } = await import('node:fs/promises');
    for (const dir of [subject.place.home, subject.place.state]) {
      expect(await stat(dir)).toMatchObject({ uid: 1000, gid: 1000 });
      expect((await stat(dir)).mode & 0o777).toBe(0o700);
    }
  });

  const probes = async (): Promise<string[]> => {
    const filters = { label: ['jackin.kind=preflight'] };
    return (await engine().docker.listContainers({ all: true, filters })).map(({ Id }) => Id);
  };
});
