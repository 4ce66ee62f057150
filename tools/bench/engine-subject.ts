import type Docker from 'dockerode';
import type { DockerLab } from '../docker-lab/index.ts';
import type { Subject } from './subject.ts';

const NAME = 'bench-engine';
const NETWORK = 'bench-engine-net';

/**
 * The bare calls for a container of the same image, alike but for what runs in it: an inspect; a start; a create and a
 * start. Without looking first, checking, waiting for anything in the container, or writing anything down.
 */
export async function engineSubject({ docker }: DockerLab, like: Subject): Promise<Subject> {
  await docker.createNetwork({ Name: NETWORK, Driver: 'bridge' });
  const config: Docker.ContainerCreateOptions = {
    name: NAME,
    Image: like.image,
    Entrypoint: ['sleep', 'infinity'],
    HostConfig: { Init: true, NetworkMode: NETWORK },
  };
  const container = docker.getContainer(NAME);
  await (await docker.createContainer(config)).start();
  return {
    name: 'engine calls alone',
    image: like.image,
    async prepare(one) {
      if (one === 1) await container.kill();
      if (one === 2) await container.remove({ force: true });
    },
    async comeBack(one) {
      if (one === 0) await container.inspect();
      if (one === 2) await docker.createContainer(config);
      if (one !== 0) await container.start();
    },
  };
}
