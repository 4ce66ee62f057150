import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Lab, loaded, loadRequest, openLab } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => Promise.reject(new Error('it was not refused')),
    (error) => error,
  );

describe('load refuses by name', () => {
  const refusals: {
    what: string;
    code: string;
    exitCode: number;
    changes: Parameters<typeof loadRequest>[0];
    env?: Record<string, string>;
  }[] = [
    {
      what: 'to run inside of an instance',
      code: 'INSIDE_INSTANCE',
      exitCode: 1,
      changes: {},
      env: { JACKIN_INSTANCE: 'k7p9m2xq' },
    },
    {
      what: 'to attach without a terminal',
      code: 'TERMINAL_REQUIRED',
      exitCode: 2,
      changes: { detach: false },
    },
    {
      what: 'a backend it does not have',
      code: 'BACKEND_UNAVAILABLE',
      exitCode: 1,
      changes: { backend: null },
    },
    { what: 'a role nobody configured', code: 'ROLE_UNKNOWN', exitCode: 2, changes: { role: 'nobody' } },
    {
      what: 'an agent of another role',
      code: 'AGENT_NOT_SUPPORTED',
      exitCode: 2,
      changes: { agent: 'claude' },
    },
    {
      what: 'an agent nobody knows',
      code: 'AGENT_UNKNOWN',
      exitCode: 2,
      changes: { role: 'agent-smith', agent: 'nobody' },
    },
    {
      what: 'a worktree of a directory that is no repository',
      code: 'SOURCE_NOT_A_REPOSITORY',
      exitCode: 1,
      changes: { mountIsolation: ['PROJECT=worktree'] },
    },
    {
      what: 'a mount that does not exist',
      code: 'MOUNT_SOURCE_MISSING',
      exitCode: 1,
      changes: { mounts: ['/no/such/directory'] },
    },
    {
      what: 'to share credentials unasked',
      code: 'DECISION_NEEDED',
      exitCode: 3,
      changes: { mounts: ['CREDENTIALS'] },
    },
    {
      what: 'to resume what is not there',
      code: 'NO_CANDIDATE',
      exitCode: 1,
      changes: { session: 'newest' },
    },
  ];
  test.each(refusals)('$what', async ({ code, exitCode, changes, env }) => {
    const credentials = join(lab.root, '.ssh');
    await mkdir(credentials);
    const fill = (text: string) => text.replace('PROJECT', lab.project).replace('CREDENTIALS', credentials);
    const request = loadRequest({
      ...changes,
      mounts: (changes?.mounts ?? []).map(fill),
      mountIsolation: (changes?.mountIsolation ?? []).map(fill),
    });
    const error = await refused(lab.jackin(env === undefined ? {} : { env }).load(request));
    expect(error).toMatchObject({ code, exitCode });
    expect(error.hint).toBeTruthy();
    expect(await readdir(lab.paths.dataDir).catch(() => [])).not.toContainEqual(
      expect.stringMatching(/^jk-/),
    );
  });

  test('an unresolved variable and a missing agent before anything is made', async () => {
    await lab.config('[env]\nTOKEN = "$NOT_SET"\n[agents.ghost]\ncommand = "no-such-program"\n');
    expect(await refused(lab.jackin().load(loadRequest()))).toMatchObject({ code: 'ENV_UNRESOLVED' });
    await lab.config('[agents.ghost]\ncommand = "no-such-program"\n');
    const ghost = loadRequest({ role: 'agent-smith', agent: 'ghost' });
    expect(await refused(lab.jackin().load(ghost))).toMatchObject({ code: 'AGENT_START_FAILED' });
    expect((await readdir(lab.paths.dataDir)).filter((name) => name.startsWith('jk-'))).toEqual([]);
  });

  test('a workspace that asks for a worktree, instead of sharing it silently', async () => {
    await lab.workspace(
      'app',
      `workdir = "/workspace/app"\n[[mounts]]\nsrc = "${lab.project}"\ndst = "/workspace/app"\nisolation = "worktree"\n`,
    );
    expect(await refused(lab.jackin().load(loadRequest({ target: 'app' })))).toMatchObject({
      code: 'SOURCE_NOT_A_REPOSITORY',
    });
    const shared = loadRequest({ target: 'app', mountIsolation: ['/workspace/app=shared'] });
    const { container_base: base } = loaded(await lab.jackin().load(shared));
    expect(await lab.manifest(base)).toMatchObject({ workspace_name: 'app', workdir: lab.project });
  });
});
