import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { JackinError } from './errors.ts';

/** Every place jackin keeps something (docs/architecture.md). Absolute paths; nothing is created by asking. */
export interface JackinPaths {
  readonly configDir: string;
  readonly homeDir: string;
  readonly dataDir: string;
  readonly socketsDir: string;
  readonly rolesDir: string;
  readonly cacheDir: string;
  readonly runtimeDir: string;
  readonly indexFile: string;
  /** The guard of all lock take-overs. Only its kernel lock matters; it holds no data. */
  readonly locksDb: string;
  /** @throws JackinError `INSTANCE_NAME_INVALID` when `base` is not one plain path component. */
  instance(base: string): InstancePaths;
}

export interface InstancePaths {
  /** The unit that is kept or deleted. */
  readonly dir: string;
  readonly meta: string;
  readonly manifest: string;
  readonly isolation: string;
  readonly agentConfig: string;
  readonly home: string;
  /** Written by the capsule: its content is untrusted input. */
  readonly state: string;
  readonly sockets: string;
  readonly socket: string;
  readonly lock: string;
}

/**
 * The paths for an environment: `JACKIN_CONFIG_DIR` and `JACKIN_HOME_DIR` override `~/.config/jackin` and
 * `~/.jackin`; an empty variable counts as unset.
 * @throws JackinError `PATH_NOT_ABSOLUTE` for a relative override.
 */
export function resolvePaths(env: NodeJS.ProcessEnv): JackinPaths {
  const configDir =
    absoluteOf('JACKIN_CONFIG_DIR', env.JACKIN_CONFIG_DIR) ?? join(userHome(env), '.config', 'jackin');
  const homeDir = absoluteOf('JACKIN_HOME_DIR', env.JACKIN_HOME_DIR) ?? join(userHome(env), '.jackin');
  const dataDir = join(homeDir, 'data');
  const socketsDir = join(homeDir, 'sockets');
  return {
    configDir,
    homeDir,
    dataDir,
    socketsDir,
    rolesDir: join(homeDir, 'roles'),
    cacheDir: join(homeDir, 'cache'),
    runtimeDir: join(homeDir, 'runtime'),
    indexFile: join(dataDir, 'instances.json'),
    locksDb: join(dataDir, 'locks.db'),
    instance: (base) => instancePaths(dataDir, socketsDir, base),
  };
}

function instancePaths(dataDir: string, socketsDir: string, base: string): InstancePaths {
  // A base read from a file must not be able to point a removal at another directory.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(base)) {
    throw new JackinError({
      code: 'INSTANCE_NAME_INVALID',
      message: `${JSON.stringify(base)} is not an instance name.`,
      hint: 'List the instances with: jackin status',
    });
  }
  const dir = join(dataDir, base);
  const meta = join(dir, '.jackin');
  const sockets = join(socketsDir, base);
  return {
    dir,
    meta,
    manifest: join(meta, 'instance.json'),
    isolation: join(meta, 'isolation.json'),
    agentConfig: join(meta, 'agent.toml'),
    home: join(dir, 'home'),
    state: join(dir, 'state'),
    sockets,
    socket: join(sockets, 'capsule.sock'),
    lock: join(dataDir, `${base}.lock`),
  };
}

function userHome(env: NodeJS.ProcessEnv): string {
  return absoluteOf('HOME', env.HOME) ?? userInfo().homedir;
}

function absoluteOf(name: string, value: string | undefined): string | null {
  if (value === undefined || value === '') return null;
  if (isAbsolute(value)) return resolve(value);
  throw new JackinError({
    code: 'PATH_NOT_ABSOLUTE',
    message: `${name} is ${JSON.stringify(value)}, which is not an absolute path.`,
    hint: `Set it to an absolute path, for example: export ${name}=${JSON.stringify(resolve(value))}`,
    exitCode: 2,
  });
}
