import { describe, expect, it } from '@jest/globals';
import {
  containerFact,
  engineFact,
  hasTag,
  imageById,
  imageByTag,
  resourceFact,
  startableByEngine,
} from '../../src/docker/facts.ts';
import { BASE, BRIDGE, CONTAINER_ID, IMAGE_ID, inspected, network } from './support/answers.ts';

const OK = { ok: true } as const;
const OWN = { base: BASE, network: `${BASE}-net` };

describe('what a container is, by its inspection', () => {
  it('O42: runs on with the OOM flag set, which is a note', () => {
    expect(containerFact(inspected({ Status: 'running', Running: true, OOMKilled: true }), OK)).toEqual({
      state: 'running',
      name: BASE,
      engine_ref: CONTAINER_ID,
      image_id: IMAGE_ID,
      oom_flag: true,
      started_run: null,
    });
    expect(containerFact(inspected({ OOMKilled: true, ExitCode: 0 }), OK)).toMatchObject({
      state: 'stopped',
      oom_flag: true,
      exit_code: 0,
    });
  });

  it('O40: a cut-off container keeps the code 0 the engine claims, whenever it says it ended', () => {
    const cut = inspected({ ExitCode: 0, FinishedAt: '2020-01-01T00:00:00Z' });
    expect(containerFact(cut, OK)).toMatchObject({ state: 'stopped', exit_code: 0, error: null });
  });

  it('O41: shows 255 as it is', () => {
    expect(containerFact(inspected({ ExitCode: 255 }), OK)).toMatchObject({
      state: 'stopped',
      exit_code: 255,
    });
  });

  it.each([
    ['created', { Status: 'created', ExitCode: 0 }],
    ['started in the year 1', { StartedAt: '0001-01-01T00:00:00Z', ExitCode: 128, Error: 'no such file' }],
  ])('has no exit code when it was never started: %s', (_, state) => {
    expect(containerFact(inspected(state), OK)).toMatchObject({ state: 'stopped', exit_code: null });
  });

  it.each([
    ['paused', { Status: 'paused', Running: true, Paused: true }],
    ['restarting', { Status: 'restarting', Running: false, Restarting: true }],
  ])('counts as running while %s', (_, state) => {
    expect(containerFact(inspected(state), OK)).toMatchObject({ state: 'running' });
  });
});

describe('whether it can be started, by what the engine has', () => {
  const lost = [BRIDGE];
  it.each([
    ['its network is there', inspected(), [BRIDGE, network()], OK],
    ['O43: its own network is gone, which a start mends', inspected(), lost, OK],
    [
      'O43: a network of ours with its name but another id is there, which a start mends',
      inspected(),
      [network({ Id: 'other' })],
      OK,
    ],
    ['the networks could not be listed', inspected(), null, OK],
    [
      'a foreign network took the name of its own',
      inspected(),
      [network({ Id: 'other', Labels: {} })],
      {
        ok: false,
        reason: `its network ${BASE}-net is gone, and a network that is not jackin's has that name`,
      },
    ],
    [
      'somebody connected it to a network that is gone',
      inspected({}, { NetworkSettings: { Networks: { theirs: { NetworkID: 'gone' } } } }),
      [network()],
      { ok: false, reason: 'the network theirs it was connected to is gone' },
    ],
    [
      'it is on the default bridge, which has another id in each run',
      inspected({}, { NetworkSettings: { Networks: { bridge: { NetworkID: 'old' } } } }),
      [BRIDGE],
      OK,
    ],
    [
      'it was never started and so knows no network id',
      inspected({}, { NetworkSettings: { Networks: { [`${BASE}-net`]: { NetworkID: '' } } } }),
      [],
      OK,
    ],
    [
      'it is dead',
      inspected({ Status: 'dead', Dead: true }),
      [network()],
      { ok: false, reason: expect.any(String) },
    ],
    ['it is being removed', inspected({ Status: 'removing' }), [], { ok: false, reason: expect.any(String) }],
  ])('%s', (_, container, networks, expected) => {
    expect(startableByEngine(container, networks, OWN)).toEqual(expected);
  });
});

describe('images', () => {
  const images: Parameters<typeof imageById>[0] = {
    ok: true,
    value: [
      { Id: IMAGE_ID, RepoTags: ['jk_shell:abc', 'localhost/jk-keep:k7p9m2xq'] },
      { Id: 'sha256:2', RepoTags: null },
    ],
  };

  it('are found by id, with or without the algorithm in front, also without a tag', () => {
    expect(imageById(images, IMAGE_ID)).toEqual({ state: 'present', image_id: IMAGE_ID });
    expect(imageById(images, '1'.repeat(64))).toMatchObject({ state: 'present' });
    expect(imageById(images, 'sha256:2')).toMatchObject({ state: 'present' });
    expect(imageById(images, 'sha256:3')).toEqual({ state: 'missing' });
  });

  it('are unknown when nobody recorded an id, or the list could not be taken', () => {
    expect(imageById(images, null)).toMatchObject({ state: 'unknown' });
    const unseen = { ok: false, reason: 'busy' } as const;
    expect(imageById(unseen, IMAGE_ID)).toEqual({ state: 'unknown', reason: 'busy' });
    expect(imageByTag(unseen, 'jk_shell:abc')).toEqual({ state: 'unknown', reason: 'busy' });
  });

  it('O44: are found by the tag, whatever registry an engine writes in front of it', () => {
    expect(imageByTag(images, 'jk_shell:abc')).toMatchObject({ state: 'present' });
    expect(imageByTag(images, 'jk-keep:k7p9m2xq')).toMatchObject({ state: 'present' });
    expect(imageByTag(images, 'shell:abc')).toEqual({ state: 'missing' });
    expect(hasTag(['debian:latest'], 'debian')).toBe(true);
    expect(hasTag(['evil/debian:latest'], 'debian')).toBe(false);
  });
});

describe('networks and volumes', () => {
  it.each([
    ['present', [network()]],
    ['missing', []],
    ['foreign', [network({ Labels: {} })]],
    ['foreign', [network({ Labels: { 'jackin.managed': 'true', 'jackin.role': 'jk-other-x' } })]],
    ['present', [network({ Labels: {} }), network()]],
    ['unknown', null],
  ])('are %s', (expected, networks) => {
    expect(resourceFact(networks, `${BASE}-net`, BASE)).toBe(expected);
  });
});

describe('the engine', () => {
  const host = { local: true, kernel: '6.1', bootId: 'boot' };
  const info = { ID: 'engine', KernelVersion: '6.1' };

  it('is told by its id, and its run by the default bridge', () => {
    expect(engineFact({ endpoint: 'unix:///x', info, networks: [network(), BRIDGE], host })).toEqual({
      state: 'reachable',
      endpoint: 'unix:///x',
      id: 'engine',
      run: `${BRIDGE.Id}@${BRIDGE.Created}`,
      boot_id: 'boot',
    });
  });

  it.each([
    ['it has no default bridge', [network()]],
    ['its networks could not be listed', null],
  ])('has no run that can be told when %s', (_, networks) => {
    expect(engineFact({ endpoint: 'x', info, networks, host }).run).toBeNull();
  });

  it.each([
    ['its kernel is another one', { info: { ...info, KernelVersion: '5.10-linuxkit' }, host }],
    ['it is not on this machine', { info, host: { ...host, local: false } }],
  ])('has no boot id when %s', (_, part) => {
    expect(engineFact({ endpoint: 'x', networks: [], ...part }).boot_id).toBeNull();
  });

  it('has neither id nor run when it tells neither', () => {
    const bare = engineFact({ endpoint: 'x', info: {}, networks: [{ ...BRIDGE, Created: null }], host });
    expect(bare).toMatchObject({ id: null, run: null, boot_id: null });
  });

  it('has no id under Podman, which makes up another at each call, and its run is that of the machine', () => {
    const podman = { ...info, ID: '4ffc2097-7340-4369-a20c-4c0b78a5cabd', BuildahVersion: '1.28.2' };
    expect(engineFact({ endpoint: 'x', info: podman, networks: [BRIDGE], host })).toMatchObject({
      id: null,
      run: 'boot',
      boot_id: 'boot',
    });
    const remote = engineFact({
      endpoint: 'x',
      info: podman,
      networks: [BRIDGE],
      host: { ...host, local: false },
    });
    expect(remote.run).toBeNull();
  });
});
