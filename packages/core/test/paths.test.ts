import { homedir } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { resolvePaths } from '../src/index.ts';

describe('resolvePaths', () => {
  test('the defaults lie in the home directory, which survives a reboot (O86)', () => {
    expect(resolvePaths({ HOME: '/home/ada' })).toMatchObject({
      configDir: '/home/ada/.config/jackin',
      homeDir: '/home/ada/.jackin',
      dataDir: '/home/ada/.jackin/data',
      socketsDir: '/home/ada/.jackin/sockets',
      rolesDir: '/home/ada/.jackin/roles',
      cacheDir: '/home/ada/.jackin/cache',
      runtimeDir: '/home/ada/.jackin/runtime',
      indexFile: '/home/ada/.jackin/data/instances.json',
      locksDb: '/home/ada/.jackin/data/locks.db',
    });
  });

  test('without HOME the account decides, and XDG variables do not', () => {
    const paths = resolvePaths({
      HOME: '',
      XDG_STATE_HOME: '/run/volatile',
      XDG_CONFIG_HOME: '/run/volatile',
    });
    expect(paths.homeDir.startsWith('/run/volatile')).toBe(false);
    if (process.env.HOME === undefined) expect(paths.homeDir).toBe(`${homedir()}/.jackin`);
  });

  test('both directories can be moved apart, and an empty override counts as unset', () => {
    const paths = resolvePaths({ HOME: '/h', JACKIN_CONFIG_DIR: '/etc/jackin/', JACKIN_HOME_DIR: '' });
    expect(paths.configDir).toBe('/etc/jackin');
    expect(paths.homeDir).toBe('/h/.jackin');
  });

  test.each(['JACKIN_CONFIG_DIR', 'JACKIN_HOME_DIR', 'HOME'])(
    'a relative %s is a usage error that names it',
    (name) => {
      expect(() => resolvePaths({ HOME: '/h', [name]: 'state' })).toThrow(
        expect.objectContaining({
          code: 'PATH_NOT_ABSOLUTE',
          exitCode: 2,
          message: expect.stringContaining(`${name} is "state"`),
          hint: expect.stringContaining(`export ${name}=`),
        }),
      );
    },
  );

  test('an instance has its files where other tools look for them', () => {
    expect(resolvePaths({ JACKIN_HOME_DIR: '/s', HOME: '/h' }).instance('jk-k7p9m2xq-proj-shell')).toEqual({
      dir: '/s/data/jk-k7p9m2xq-proj-shell',
      meta: '/s/data/jk-k7p9m2xq-proj-shell/.jackin',
      manifest: '/s/data/jk-k7p9m2xq-proj-shell/.jackin/instance.json',
      isolation: '/s/data/jk-k7p9m2xq-proj-shell/.jackin/isolation.json',
      agentConfig: '/s/data/jk-k7p9m2xq-proj-shell/.jackin/agent.toml',
      home: '/s/data/jk-k7p9m2xq-proj-shell/home',
      state: '/s/data/jk-k7p9m2xq-proj-shell/state',
      sockets: '/s/sockets/jk-k7p9m2xq-proj-shell',
      socket: '/s/sockets/jk-k7p9m2xq-proj-shell/capsule.sock',
      lock: '/s/data/jk-k7p9m2xq-proj-shell.lock',
    });
  });

  test('no instance name, however hostile, leads out of the state directory', () => {
    const paths = resolvePaths({ JACKIN_HOME_DIR: '/s', HOME: '/h' });
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom('..', '.', '/', 'jk-a', '\0', '')).map((parts) => parts.join('/')),
    );
    fc.assert(
      fc.property(hostile, (base) => {
        let dir: string;
        try {
          dir = paths.instance(base).dir;
        } catch (error) {
          expect(error).toMatchObject({ code: 'INSTANCE_NAME_INVALID' });
          return;
        }
        expect(dir).toBe(`/s/data/${base}`);
        expect(base).not.toMatch(/[/\0]|^\./);
      }),
    );
  });
});
