import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findProgram, sessionEnvironment } from '../../src/execute/session-env.ts';

const hostEnv = {
  PATH: '/usr/bin',
  LC_ALL: 'C.UTF-8',
  HOME: '/root',
  XDG_CONFIG_HOME: '/root/.config',
  AWS_SECRET_ACCESS_KEY: 'hush',
  NODE_OPTIONS: '--inspect',
  JACKIN_INSTANCE: 'outer',
};
const input = { instanceId: 'k7p9m2xq', home: '/data/home', hostEnv, resolved: { TOKEN: 'value' } };

describe('the environment of a session', () => {
  it('gives a standalone session a short list of host names and the HOME of the instance', () => {
    expect(sessionEnvironment({ ...input, backend: 'standalone' })).toEqual({
      PATH: '/usr/bin',
      LC_ALL: 'C.UTF-8',
      TERM: 'xterm-256color',
      COLORTERM: 'truecolor',
      TOKEN: 'value',
      HOME: '/data/home',
      JACKIN_INSTANCE: 'k7p9m2xq',
    });
  });

  it('gives a container nothing of the host', () => {
    expect(sessionEnvironment({ ...input, backend: 'docker' })).toEqual({
      TERM: 'xterm-256color',
      COLORTERM: 'truecolor',
      TOKEN: 'value',
      HOME: '/home/agent',
      JACKIN_INSTANCE: 'k7p9m2xq',
    });
  });

  it('lets a resolved reference replace an inherited name, but never ours', () => {
    const resolved = { PATH: '/opt/bin', HOME: '/elsewhere', JACKIN_INSTANCE: 'other' };
    const env = sessionEnvironment({ ...input, backend: 'standalone', resolved });
    expect(env).toMatchObject({ PATH: '/opt/bin', HOME: '/data/home', JACKIN_INSTANCE: 'k7p9m2xq' });
  });
});

describe('finding the program of an agent', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'jk-find-'));
    await mkdir(join(dir, 'bin', 'folder'), { recursive: true });
    await writeFile(join(dir, 'bin', 'agent'), '#!/bin/sh\n');
    await chmod(join(dir, 'bin', 'agent'), 0o755);
    await writeFile(join(dir, 'bin', 'notes'), '');
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('looks along PATH, also in relative and empty entries', async () => {
    const agent = join(dir, 'bin', 'agent');
    await expect(findProgram('agent', '/', `/nowhere:${join(dir, 'bin')}`)).resolves.toBe(agent);
    await expect(findProgram('agent', dir, 'bin')).resolves.toBe(agent);
    await expect(findProgram('agent', join(dir, 'bin'), '')).resolves.toBe(agent);
  });

  it('takes a name with a slash as a path from the working directory', async () => {
    await expect(findProgram('./bin/agent', dir, undefined)).resolves.toBe(join(dir, 'bin', 'agent'));
    await expect(findProgram('bin/missing', dir, undefined)).resolves.toBeNull();
  });

  it('finds neither directories nor files that cannot be executed', async () => {
    await expect(findProgram('folder', '/', join(dir, 'bin'))).resolves.toBeNull();
    await expect(findProgram('notes', '/', join(dir, 'bin'))).resolves.toBeNull();
    await expect(findProgram('', '/', join(dir, 'bin'))).resolves.toBeNull();
  });
});
