import type { Recipe } from '@jackin/instance';
import { describe, expect, it } from '@jest/globals';
import { containerConfig } from '../../src/docker/container-config.ts';
import { manifestOf } from '../decide/fixtures.ts';
import { BASE, ID, IMAGE_ID } from './support/answers.ts';

const manifest = manifestOf('docker', { instance_id: ID, container_base: BASE });
const dirs = { data: '/d', home: '/d/home', state: '/d/state', sockets: '/s', agent_config: '/d/agent.toml' };

function config(change: Partial<Recipe> = {}, env: Record<string, string> = {}) {
  const recipe = { ...(manifest.recipe as Recipe), ...change };
  return containerConfig({
    manifest,
    recipe,
    mounts: recipe.mounts.map(({ src, dst, readonly }) => ({ source: src, target: dst, readonly })),
    env,
    dirs,
    user: { uid: 501, gid: 20 },
    names: { container: BASE, network: `${BASE}-net` },
    image: { id: IMAGE_ID, tag: 'jk_x:1' },
    runtimeDir: '/r/digest',
  });
}

describe('the configuration of a container', () => {
  it('is made from the image id, runs the capsule as the mapped user and restarts never', () => {
    expect(config()).toMatchObject({
      Image: IMAGE_ID,
      User: '501:20',
      Entrypoint: ['/jackin/runtime/node', '/jackin/runtime/capsule.mjs'],
      Cmd: [
        ...['--config', '/jackin/run/agent.toml', '--state', '/jackin/state'],
        ...['--socket', '/jackin/run/capsule.sock', '--announce'],
      ],
      WorkingDir: '/workspace/proj',
      Tty: false,
      HostConfig: { Init: true, NetworkMode: `${BASE}-net`, RestartPolicy: { Name: 'no' } },
    });
  });

  it('has HOME and the instance in its environment, and nothing of the recipe', () => {
    expect(config().Env).toEqual(['HOME=/home/agent', `JACKIN_INSTANCE=${ID}`]);
    expect(JSON.stringify(config())).not.toContain('TOKEN');
    expect(config({}, { GIT_CONFIG_COUNT: '0' }).Env).toContain('GIT_CONFIG_COUNT=0');
  });

  it('carries the labels that are its identity', () => {
    expect(config().Labels).toEqual({
      'jackin.managed': 'true',
      'jackin.kind': 'role',
      'jackin.instance': ID,
      'jackin.class': 'the-architect',
      'jackin.workspace': 'proj',
      'jackin.agent': 'claude',
      'jackin.image': 'jk_x:1',
    });
  });

  it('mounts with Mounts, whose missing source is an error, and never with Binds', () => {
    const { HostConfig } = config({
      mounts: [
        { src: '/srv/proj', dst: '/workspace/proj', isolation: 'shared', readonly: false },
        { src: '/etc/x', dst: '/home/agent/.x', isolation: 'shared', readonly: true },
      ],
    });
    expect(HostConfig?.Binds).toBeUndefined();
    expect(HostConfig?.Mounts).toEqual([
      { Type: 'bind', Source: '/d/home', Target: '/home/agent', ReadOnly: false },
      { Type: 'bind', Source: '/d/state', Target: '/jackin/state', ReadOnly: false },
      { Type: 'bind', Source: '/s', Target: '/jackin/run', ReadOnly: false },
      { Type: 'bind', Source: '/d/agent.toml', Target: '/jackin/run/agent.toml', ReadOnly: true },
      { Type: 'bind', Source: '/r/digest', Target: '/jackin/runtime', ReadOnly: true },
      { Type: 'bind', Source: '/srv/proj', Target: '/workspace/proj', ReadOnly: false },
      { Type: 'bind', Source: '/etc/x', Target: '/home/agent/.x', ReadOnly: true },
    ]);
  });

  it('has the limits of the recipe, and no swap beyond the memory', () => {
    const run = { limits: { memory_bytes: 1e9, cpus: 1.5, pids: 100 } };
    expect(config({ run }).HostConfig).toMatchObject({
      Memory: 1e9,
      MemorySwap: 1e9,
      NanoCpus: 1.5e9,
      PidsLimit: 100,
    });
    for (const limit of ['Memory', 'NanoCpus', 'PidsLimit']) {
      expect(config({ run: { limits: {} } }).HostConfig).not.toHaveProperty(limit);
    }
  });

  it.each(['/jackin', '/jackin/runtime', '/jackin/run/agent.toml', '/home/agent'])(
    'has no mount of the operator at %s',
    (dst) => {
      const mounts = [{ src: '/x', dst, isolation: 'shared' as const, readonly: false }];
      expect(() => config({ mounts })).toThrow(expect.objectContaining({ code: 'MOUNT_CONFLICT' }));
    },
  );
});
