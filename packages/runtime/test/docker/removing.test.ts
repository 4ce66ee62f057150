import { expect, it, jest } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { onEngine, seen, traces } from './support/on-engine.ts';
import { BASE_IMAGE, freshSignal, type Subject } from './support/subject.ts';

jest.setTimeout(120_000);

await describeOnEngine('harmless', 'removing on an engine', (engine) => {
  const { subject: make, cleanUp } = onEngine(engine);
  const remove = ({ backend, ref }: Subject, what: Parameters<Subject['backend']['remove']>[1]) =>
    backend.remove(ref(), what, freshSignal());

  /** An image of the base's content with an id of its own. */
  async function ownImage(repo: string, tag: string): Promise<string> {
    const { docker } = engine();
    const { id } = await docker.createContainer({ Image: BASE_IMAGE, Cmd: ['true'] });
    const { Id } = await docker.getContainer(id).commit({ repo, tag, comment: `${repo}:${tag}` });
    await docker.getContainer(id).remove();
    cleanUp(() =>
      docker
        .getImage(Id)
        .remove({ force: true })
        .catch(() => {}),
    );
    return Id;
  }

  it('O51: a container that somebody started between the look and the removal runs on', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.launch();
    await subject.backend.stop(subject.ref(), 5_000, freshSignal());
    expect((await seen(subject)).container.state).toBe('stopped');
    await docker.getContainer(subject.base).start();
    const before = await docker.getContainer(subject.base).inspect();
    await expect(remove(subject, 'container')).rejects.toMatchObject({
      code: 'CONTAINER_RUNNING',
      hint: expect.stringContaining(`jackin stop ${subject.id}`),
    });
    const after = await docker.getContainer(subject.base).inspect();
    expect(after.State).toMatchObject({ Running: true, StartedAt: before.State.StartedAt });
  });

  it('takes everything away that an instance has, and what a restore put aside only when asked for it', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.prepare();
    const { image_id: imageId } = await subject.backend.create(subject.context());
    const aside = `${subject.base}-before-20260101000000`;
    await subject.backend.rename(subject.ref(), aside, freshSignal());
    await subject.backend.rename(subject.ref(), aside, freshSignal());
    expect((await seen(subject)).container).toEqual({ state: 'missing' });
    expect((await subject.backend.create(subject.context())).created).toEqual([`container ${subject.base}`]);
    subject.manifest = { ...subject.manifest, image_id: imageId as string };
    await subject.backend.pinImage(subject.ref(), imageId as string, freshSignal());
    await docker.createVolume({
      Name: `${subject.base}-dind-certs`,
      Labels: { 'jackin.managed': 'true', 'jackin.role': subject.base },
    });
    expect(await traces(docker, subject)).toHaveLength(5);
    expect(await remove(subject, 'container')).toBe('removed');
    expect(await traces(docker, subject)).toContain(aside);
    expect(await remove(subject, 'container')).toBe('absent');
    for (const what of ['put_aside', 'sidecar', 'network', 'volume', 'keep_tag'] as const) {
      expect([what, await remove(subject, what)]).toEqual([what, what === 'sidecar' ? 'absent' : 'removed']);
      expect([what, await remove(subject, what)]).toEqual([what, 'absent']);
    }
    expect(await traces(docker, subject)).toEqual([]);
    expect((await docker.getImage(BASE_IMAGE).inspect()).Id).toBe(imageId);
  });

  it('leaves foreign volumes and sidecars with our names alone and names them', async () => {
    const { docker } = engine();
    const subject = await make();
    await docker.createVolume({ Name: `${subject.base}-dind-certs` });
    cleanUp(() => docker.getVolume(`${subject.base}-dind-certs`).remove());
    const sidecar = await docker.createContainer({ name: `${subject.base}-dind`, Image: BASE_IMAGE });
    cleanUp(() => sidecar.remove());
    for (const what of ['volume', 'sidecar'] as const) {
      await expect(remove(subject, what)).rejects.toMatchObject({ code: 'NAME_TAKEN_BY_FOREIGN' });
    }
    expect(await traces(docker, subject)).toEqual([`${subject.base}-dind`, `${subject.base}-dind-certs`]);
  });

  it('renames onto no container that is not ours', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.prepare();
    await subject.backend.create(subject.context());
    const other = await docker.createContainer({ name: `${subject.base}-taken`, Image: BASE_IMAGE });
    cleanUp(() => other.remove());
    await expect(
      subject.backend.rename(subject.ref(), `${subject.base}-taken`, freshSignal()),
    ).rejects.toMatchObject({ code: 'NAME_TAKEN_BY_FOREIGN' });
    expect((await seen(subject)).container).toMatchObject({ state: 'stopped', name: subject.base });
  });

  it('O44: the keep tag keeps an image whose own tag went, until the instance goes', async () => {
    const { docker } = engine();
    const subject = await make();
    const tag = `jk_t${subject.id}:1`;
    const imageId = await ownImage(`jk_t${subject.id}`, '1');
    subject.manifest = { ...subject.manifest, image_id: imageId, image_tag: tag };
    await subject.backend.pinImage(subject.ref(), imageId, freshSignal());
    await docker.getImage(tag).remove();
    expect((await seen(subject)).image).toEqual({
      by_id: { state: 'present', image_id: imageId },
      by_keep_tag: { state: 'present', image_id: imageId },
      by_tag: { state: 'missing' },
    });
    expect(await remove(subject, 'keep_tag')).toBe('removed');
    expect((await seen(subject)).image?.by_id).toEqual({ state: 'missing' });
    await expect(subject.backend.pinImage(subject.ref(), imageId, freshSignal())).rejects.toMatchObject({
      code: 'IMAGE_GONE',
    });
  });

  it('a keep tag that is the last name of an image goes without taking the image from another instance', async () => {
    const { docker } = engine();
    const [subject, other] = [await make(), await make()];
    const imageId = await ownImage(`jk_t${subject.id}`, '1');
    await other.prepare();
    await other.backend.create(other.context(freshSignal(), { ...other.recipe, image_id: imageId }));
    subject.manifest = { ...subject.manifest, image_id: imageId };
    await subject.backend.pinImage(subject.ref(), imageId, freshSignal());
    await docker.getImage(`jk_t${subject.id}:1`).remove();
    expect(await remove(subject, 'keep_tag')).toBe('removed');
    expect(await traces(docker, subject)).toEqual([]);
    expect((await docker.getImage(imageId).inspect()).RepoTags).toEqual([`jk-keep:${other.id}`]);
  });

  it('a keep tag whose image only a foreign container uses stays, and the container is named', async () => {
    const { docker } = engine();
    const subject = await make();
    const imageId = await ownImage(`jk_t${subject.id}`, '1');
    const foreign = await docker.createContainer({ Image: imageId, Cmd: ['true'] });
    cleanUp(() => foreign.remove());
    subject.manifest = { ...subject.manifest, image_id: imageId };
    await subject.backend.pinImage(subject.ref(), imageId, freshSignal());
    await docker.getImage(`jk_t${subject.id}:1`).remove();
    await expect(remove(subject, 'keep_tag')).rejects.toMatchObject({
      code: 'IMAGE_IN_USE',
      message: expect.stringContaining(foreign.id.slice(0, 12)),
    });
    expect((await docker.getImage(imageId).inspect()).RepoTags).toEqual([`jk-keep:${subject.id}`]);
  });

  it('removes no image that jackin did not make', async () => {
    const subject = await make();
    const imageId = await ownImage(`jk_t${subject.id}`, '1');
    subject.manifest = { ...subject.manifest, image_id: imageId };
    await expect(remove(subject, 'image')).rejects.toMatchObject({ code: 'IMAGE_IN_USE' });
    expect((await engine().docker.getImage(imageId).inspect()).Id).toBe(imageId);
  });
});
