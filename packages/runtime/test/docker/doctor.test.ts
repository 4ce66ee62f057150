import { describe, expect, it } from '@jest/globals';
import type { EngineInfo } from '../../src/docker/api.ts';
import { endpointFindings, infoFindings, sharedStateFinding } from '../../src/docker/doctor.ts';
import { createEngineClient } from '../../src/docker/engine.ts';

const INFO: EngineInfo = {
  ID: 'x',
  ServerVersion: '27.0',
  OSType: 'linux',
  Architecture: 'x86_64',
  OperatingSystem: 'Debian',
  CgroupVersion: '2',
  CgroupDriver: 'systemd',
  MemoryLimit: true,
  PidsLimit: true,
  SecurityOptions: ['name=seccomp,profile=default'],
};
const GOOD = { run: 'b@1', local: true };
const bad = (info: EngineInfo, seen = GOOD) =>
  infoFindings(info, seen)
    .filter(({ severity }) => severity !== 'ok')
    .map(({ check, severity }) => `${severity} ${check}`);

describe('what doctor says about the engine', () => {
  it('is nothing but good about one with everything', () => {
    expect(bad(INFO)).toEqual([]);
  });

  it.each<[string, EngineInfo, typeof GOOD | { run: null; local: boolean }, string[]]>([
    ['no default bridge', INFO, { ...GOOD, run: null }, ['warning docker.run']],
    ['Windows containers', { ...INFO, OSType: 'windows' }, GOOD, ['error docker.engine']],
    ['no memory limits', { ...INFO, MemoryLimit: false }, GOOD, ['warning docker.cgroup']],
    ['no process limits', { ...INFO, PidsLimit: false }, GOOD, ['warning docker.cgroup']],
    ['rootless', { ...INFO, SecurityOptions: ['name=rootless'] }, GOOD, ['warning docker.rootless']],
    ['another machine', INFO, { ...GOOD, local: false }, ['warning docker.remote']],
    ['an engine that tells nothing', {}, GOOD, []],
  ])('names %s', (_, info, seen, expected) => {
    expect(bad(info, seen as typeof GOOD)).toEqual(expected);
  });

  it('names the endpoint that was chosen and why the others were not', () => {
    const rejected = [
      { source: 'Docker', endpoint: 'unix:///var/run/docker.sock', reason: 'permission denied' },
    ];
    const engine = createEngineClient({ kind: 'unix', path: '/x.sock' });
    const chosen = endpointFindings({
      state: 'chosen',
      engine,
      source: 'Colima',
      rejected,
      problems: ['odd file'],
    });
    expect(chosen.map(({ check, severity, message }) => `${severity} ${check}: ${message}`)).toEqual([
      'ok docker.endpoint: unix:///x.sock answers (Colima)',
      'info docker.rejected: unix:///var/run/docker.sock (Docker): permission denied',
      'warning docker.config: odd file',
    ]);
    const none = endpointFindings({
      state: 'none',
      endpoint: 'docker',
      reason: 'nothing',
      rejected,
      problems: [],
    });
    expect(none[0]).toMatchObject({ severity: 'error', hint: expect.stringContaining('DOCKER_HOST') });
  });

  it.each(['fuse', '0x1021997', 'nfs', 'cifs'])(
    'O61: warns about state on %s, which machines share',
    (kind) => {
      expect(sharedStateFinding(kind, '/state')).toEqual([
        expect.objectContaining({ severity: 'warning', message: expect.stringContaining('/state') }),
      ]);
    },
  );

  it('O61: says nothing about state on a disk of this machine', () => {
    for (const kind of ['ext4', 'btrfs', 'xfs', 'overlay', 'tmpfs']) {
      expect(sharedStateFinding(kind, '/state')).toEqual([]);
    }
  });
});
