import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from '../../../../../tools/docker-lab/shared.ts';
import { openSilentSocket } from '../../../../../tools/docker-lab/sockets.ts';
import type { BackendHarness } from '../../../src/conformance/index.ts';
import { createDockerBackend } from '../../../src/docker/adapter.ts';
import { BASE_IMAGE, freshSignal, newSubject } from './subject.ts';

/** One instance on the docker backend, with the real capsule in a real container. */
export async function makeDockerHarness(engine: Engine): Promise<BackendHarness> {
  const { docker, env } = engine;
  const subject = await newSubject({ docker, env });
  const { place, workdir } = subject;
  return {
    backend: subject.backend,
    ref: subject.ref,
    prepare: subject.prepare,
    context: subject.context,
    recordStart: subject.record,
    recordRemoval() {},
    async crash() {
      const container = docker.getContainer(subject.base);
      const ended = container.wait();
      await container.kill();
      await ended;
    },
    async foreign() {
      const container = await docker.createContainer({
        name: subject.base,
        Image: BASE_IMAGE,
        Cmd: ['sleep', '1000'],
        HostConfig: { Init: true },
      });
      await container.start();
      const before = await container.inspect();
      return {
        ref: subject.ref(),
        async untouched() {
          const { Id, State, Name } = await container.inspect();
          return (
            Id === before.Id &&
            Name === before.Name &&
            State.StartedAt === before.State.StartedAt &&
            State.Running
          );
        },
      };
    },
    async observeUnreachable() {
      const silent = await openSilentSocket(subject.root, 's.sock');
      try {
        const backend = createDockerBackend({
          ...subject.options,
          env: { HOME: subject.root, DOCKER_HOST: `unix://${silent.socket}` },
        });
        return await backend.observe([subject.ref()], freshSignal());
      } finally {
        await silent.close();
      }
    },
    async filesIntact() {
      const files = [place.manifest, place.agentConfig, place.home, join(place.state, '.'), workdir];
      const found = await Promise.allSettled(files.map((file) => lstat(file)));
      return found.every(({ status }) => status === 'fulfilled');
    },
    dispose: subject.dispose,
  };
}
