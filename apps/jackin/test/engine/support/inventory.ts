import type Docker from 'dockerode';

/** Everything an engine has, one line each: equal before and after means that nothing was added or taken away. */
export async function inventory(docker: Docker): Promise<string[]> {
  const [containers, networks, { Volumes: volumes }, images] = await Promise.all([
    docker.listContainers({ all: true }),
    docker.listNetworks(),
    docker.listVolumes(),
    docker.listImages({ all: true }),
  ]);
  return [
    ...containers.map(({ Id, Names, State }) => `container ${Names.join()} ${Id} ${State}`),
    ...networks.map(({ Id, Name }) => `network ${Name} ${Id}`),
    ...(volumes ?? []).map(({ Name }) => `volume ${Name}`),
    ...images.map(({ Id, RepoTags }) => `image ${Id} ${[...(RepoTags ?? [])].sort().join()}`),
  ].sort();
}
