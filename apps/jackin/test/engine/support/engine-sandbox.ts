import { buffer } from 'node:stream/consumers';
import type Docker from 'dockerode';
import type { DockerLab } from '../../../../../tools/docker-lab/index.ts';
import { createSandbox, type Sandbox } from '../../e2e/support/sandbox.ts';

export interface Instance {
  id: string;
  base: string;
}

/** A sandbox whose sessions live on a real engine. */
export interface EngineSandbox extends Sandbox {
  /** `load shell PROJECT --agent shell --new --detach` on docker; returns the instance. */
  load(command?: string[], extra?: string[], what?: { role?: string; agent?: string }): Promise<Instance>;
  /** Removed with the others at the end, though it was not made by `load`. */
  adopt(instance: Instance): Instance;
  container(instance: Instance): Docker.Container;
  /** Runs a program in the container as its user; its output. */
  exec(instance: Instance, ...argv: string[]): Promise<string>;
  /** The row of `status --json`. */
  status(instance: Instance): Promise<Record<string, any>>;
  /** What the engine has that carries the labels, names or tags of an instance: empty after a clean-up. */
  onEngine(instance: Instance): Promise<string[]>;
}

type Engine = Pick<DockerLab, 'docker' | 'env'>;

/** Its DOCKER_HOST is the engine's; `dispose` removes what its sessions left there. */
export function createEngineSandbox({ docker, env }: Engine): EngineSandbox {
  const sandbox = createSandbox();
  Object.assign(sandbox.env, env);
  const made: Instance[] = [];

  const engineSandbox: EngineSandbox = {
    ...sandbox,
    async load(command = [], extra = [], { role = 'shell', agent = 'shell' } = {}) {
      const args = ['load', role, sandbox.project, '--agent', agent, '--new', '--detach', '--json'];
      const tail = command.length > 0 ? ['--', ...command] : [];
      const all = [...args, '--backend', 'docker', ...extra, ...tail];
      const result = await sandbox.jackin(all, { timeoutMs: 120_000 });
      if (result.code !== 0) throw new Error(`load failed: ${result.stdout}\n${result.stderr}`);
      const { instance_id: id, container_base: base } = result.json().data;
      return engineSandbox.adopt({ id, base });
    },
    adopt(instance) {
      made.push(instance);
      return instance;
    },
    container: ({ base }) => docker.getContainer(base),
    exec: ({ base }, ...argv) => execIn(docker, base, argv),
    async status({ id }) {
      const { json } = await sandbox.jackin(['status', id, '--json']);
      return json().data.instances[0];
    },
    onEngine: (instance) => resourcesOf(docker, instance),
    async dispose() {
      for (const instance of made) await unlessGone(removeFromEngine(docker, instance));
      await sandbox.dispose();
    },
  };
  return engineSandbox;
}

async function execIn(docker: Docker, base: string, argv: string[]): Promise<string> {
  const exec = await docker
    .getContainer(base)
    .exec({ Cmd: argv, AttachStdout: true, AttachStderr: true, Tty: true });
  const stream = await exec.start({ Tty: true });
  const output = (await buffer(stream)).toString().replaceAll('\r\n', '\n');
  const { ExitCode: code } = await exec.inspect();
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${output}`);
  return output;
}

async function resourcesOf(docker: Docker, { id, base }: Instance): Promise<string[]> {
  const [containers, networks, { Volumes: volumes }, images] = await Promise.all([
    docker.listContainers({ all: true }),
    docker.listNetworks(),
    docker.listVolumes(),
    docker.listImages(),
  ]);
  const ours = (name: string, labels: Record<string, string> | null | undefined): boolean =>
    name.includes(base) || labels?.['jackin.instance'] === id || labels?.['jackin.role'] === base;
  return [
    ...containers
      .filter((one) => ours(one.Names.join(), one.Labels))
      .map((one) => `container ${one.Names[0]}`),
    ...networks.filter((one) => ours(one.Name, one.Labels)).map((one) => `network ${one.Name}`),
    ...(volumes ?? []).filter((one) => ours(one.Name, one.Labels)).map((one) => `volume ${one.Name}`),
    ...images
      .flatMap((one) => one.RepoTags ?? [])
      .filter((tag) => tag.includes(id))
      .map((tag) => `tag ${tag}`),
  ];
}

async function removeFromEngine(docker: Docker, { id, base }: Instance): Promise<void> {
  const containers = await docker.listContainers({
    all: true,
    filters: { label: [`jackin.instance=${id}`] },
  });
  for (const one of containers) await gone(docker.getContainer(one.Id).remove({ force: true, v: true }));
  await gone(docker.getNetwork(`${base}-net`).remove());
  await gone(docker.getImage(`jk-keep:${id}`).remove());
}

/** An engine that was ended before took its sessions with it. */
async function unlessGone(removal: Promise<void>): Promise<void> {
  await removal.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ECONNREFUSED') throw error;
  });
}

/** Removed by the test itself, or never made. */
async function gone(removal: Promise<unknown>): Promise<void> {
  await removal.catch((error: { statusCode?: number }) => {
    if (error.statusCode !== 404) throw error;
  });
}
