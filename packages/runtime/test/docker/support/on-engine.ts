import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';
import type Docker from 'dockerode';
import type { Engine } from '../../../../../tools/docker-lab/shared.ts';
import { freshSignal, newSubject, type Subject, type SubjectOptions } from './subject.ts';

export interface OnEngine {
  /** An instance that is removed after the test. */
  subject(options?: Partial<SubjectOptions>): Promise<Subject>;
  /** Runs after the test, last one first. */
  cleanUp(step: () => unknown): void;
}

/** What the tests of one suite on an engine share. */
export function onEngine(engine: () => Pick<Engine, 'docker' | 'env'>): OnEngine {
  const steps: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of steps.splice(0).reverse()) await step();
  }, 60_000);
  return {
    cleanUp: (step) => void steps.push(step),
    async subject(options = {}) {
      const { docker, env } = engine();
      const made = await newSubject({ docker, env, ...options });
      steps.push(() => made.dispose());
      return made;
    },
  };
}

/** Runs a command in a running container, as root unless told otherwise; its output. */
export async function inside(
  docker: Docker,
  container: string,
  argv: string[],
  user = '0:0',
): Promise<string> {
  const exec = await docker
    .getContainer(container)
    .exec({ Cmd: argv, User: user, AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({});
  const output = new PassThrough();
  docker.modem.demuxStream(stream, output, output);
  stream.on('end', () => output.end());
  const said = await text(output);
  const { ExitCode } = await exec.inspect();
  if (ExitCode !== 0) throw new Error(`${argv.join(' ')} ended with ${ExitCode}: ${said}`);
  return said;
}

/** The instance as the backend sees it now. */
export async function seen(subject: Subject) {
  const inventory = await subject.backend.observe([subject.ref()], freshSignal());
  const own = inventory.instances.get(subject.id);
  if (own === undefined) throw new Error('the instance was not reported');
  return { ...own, engine: inventory.engine, orphans: inventory.orphans };
}

/** Names of everything on the engine that has to do with an instance. */
export async function traces(docker: Docker, { id, base }: Pick<Subject, 'id' | 'base'>): Promise<string[]> {
  const [containers, networks, { Volumes }, images] = await Promise.all([
    docker.listContainers({ all: true }),
    docker.listNetworks(),
    docker.listVolumes(),
    docker.listImages(),
  ]);
  const names = [
    ...containers.flatMap(({ Names }) => Names.map((name) => name.slice(1))),
    ...networks.map(({ Name }) => Name),
    ...(Volumes ?? []).map(({ Name }) => Name),
    ...images.flatMap(({ RepoTags }) => RepoTags ?? []),
  ];
  return names.filter((name) => name.includes(base) || name.includes(id)).sort();
}
