import { join } from 'node:path';

/** Where engines listen when nobody says otherwise, in the order they are tried (docs/docker.md#which-engine). */
export function knownEngineSockets(env: NodeJS.ProcessEnv, home: string): { source: string; path: string }[] {
  const login = env.XDG_RUNTIME_DIR;
  const known: [source: string, path: string | null][] = [
    ['Docker', '/var/run/docker.sock'],
    ['rootless Docker', login ? join(login, 'docker.sock') : null],
    ['Docker Desktop', join(home, '.docker/run/docker.sock')],
    ['OrbStack', join(home, '.orbstack/run/docker.sock')],
    ['Colima', join(home, '.colima/default/docker.sock')],
    ['Rancher Desktop', join(home, '.rd/docker.sock')],
    ['rootless Podman', login ? join(login, 'podman/podman.sock') : null],
    ['Podman', '/run/podman/podman.sock'],
  ];
  return known.flatMap(([source, path]) => (path === null ? [] : [{ source, path }]));
}
