import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CandidateRow } from '../../src/index.ts';
import { killAll, type Lab, loaded, loadRequest, openLab, quiet, type } from './support.ts';

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

describe('load starts a session', () => {
  test('that runs, with a manifest, a recipe without secrets and no tier', async () => {
    await lab.config('[env]\nTOKEN = "$HOST_TOKEN"\n');
    const jackin = lab.jackin({ env: { HOST_TOKEN: 'very-secret-value' } });
    const document = loaded(await jackin.load(loadRequest({ limits: { pids: 200 } })));
    expect(document).toMatchObject({ status: 'running', tier: null });
    const manifest = await lab.manifest(document.container_base);
    expect(manifest).toMatchObject({ role_key: 'shell', agent_runtime: 'shell', workdir: lab.project });
    expect(manifest.recipe).toMatchObject({
      backend: 'standalone',
      run: { limits: { pids: 200 } },
      env: [{ name: 'TOKEN', source: '$HOST_TOKEN' }],
    });
    expect(JSON.stringify(manifest)).not.toContain('very-secret-value');
  });

  test('runs the command after -- in the project with HOME inside the instance', async () => {
    const command = ['sh', '-c', 'pwd > here; echo "$HOME" > home; exec sleep 600'];
    const { container_base: base } = loaded(await lab.jackin().load(loadRequest({ command })));
    const { recipe } = await lab.manifest(base);
    expect(recipe?.agent.argv).toEqual(command);
    expect(recipe?.workdir).toBe(lab.project);
  });

  test('prints its plan on --dry-run and changes nothing', async () => {
    const result = await lab.jackin().load(loadRequest({ dryRun: true, detach: false }));
    expect(result).toMatchObject({
      kind: 'plan',
      document: { plan: { kind: 'launch', backend: 'standalone' } },
    });
    await expect(readdir(lab.paths.homeDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('tells that standalone enforces neither read-only nor another destination', async () => {
    const notes = join(lab.root, 'notes');
    await mkdir(notes);
    await lab.jackin().load(loadRequest({ mounts: [`${notes}:/workspace/notes:ro`] }));
    const told = lab.events.flatMap((event) => (event.type === 'notice' ? [event.message] : []));
    expect(told).toContainEqual(expect.stringContaining('does not enforce read-only'));
    expect(told).toContainEqual(expect.stringContaining('not at /workspace/notes'));
  });
});

describe('load refuses by name', () => {
  test.each<[string, string, number, Parameters<typeof loadRequest>[0], Record<string, string>?]>([
    ['to run inside of an instance', 'INSIDE_INSTANCE', 1, {}, { JACKIN_INSTANCE: 'k7p9m2xq' }],
    ['to attach without a terminal', 'TERMINAL_REQUIRED', 2, { detach: false }],
    ['a backend this version does not have', 'BACKEND_UNAVAILABLE', 1, { backend: null }],
    ['a role nobody configured', 'ROLE_UNKNOWN', 2, { role: 'nobody' }],
    ['an agent its role does not support', 'AGENT_NOT_SUPPORTED', 2, { agent: 'claude' }],
    ['an agent nobody knows', 'AGENT_UNKNOWN', 2, { role: 'agent-smith', agent: 'nobody' }],
    ['a mount that asks for isolation', 'ISOLATION_UNSUPPORTED', 1, { mountIsolation: ['PROJECT=worktree'] }],
    ['a mount that does not exist', 'MOUNT_SOURCE_MISSING', 1, { mounts: ['/no/such/directory'] }],
    ['to share credentials unasked', 'DECISION_NEEDED', 3, { mounts: ['CREDENTIALS'] }],
    ['to resume what is not there', 'NO_CANDIDATE', 1, { session: 'newest' }],
  ])('%s', async (_what, code, exitCode, changes, env) => {
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
      code: 'ISOLATION_UNSUPPORTED',
    });
    const shared = loadRequest({ target: 'app', mountIsolation: ['/workspace/app=shared'] });
    const { container_base: base } = loaded(await lab.jackin().load(shared));
    expect(await lab.manifest(base)).toMatchObject({ workspace_name: 'app', workdir: lab.project });
  });
});

describe('load never decides between resuming and starting new', () => {
  test('without a terminal it names the candidate and both commands', async () => {
    const first = loaded(await lab.jackin().load(loadRequest()));
    const error = await refused(lab.jackin().load(loadRequest()));
    expect(error).toMatchObject({ code: 'DECISION_NEEDED', exitCode: 3 });
    expect(error.message).toContain(first.container_base);
    const details = error.details as { candidates: CandidateRow[]; commands: string[] };
    expect(details.candidates.map((row) => row.instance_id)).toEqual([first.instance_id]);
    expect(details.commands).toEqual([
      expect.stringContaining(`--instance ${first.instance_id}`),
      expect.stringContaining('--new'),
    ]);
  });

  test('--new starts next to it, --resume and --instance join it at tier 0', async () => {
    const first = loaded(await lab.jackin().load(loadRequest()));
    const second = loaded(await lab.jackin().load(loadRequest({ session: 'new' })));
    expect(second.instance_id).not.toBe(first.instance_id);
    const newest = loaded(await lab.jackin().load(loadRequest({ session: 'newest' })));
    expect(newest).toMatchObject({ instance_id: second.instance_id, tier: 0 });
    const named = { instance: first.instance_id.slice(0, 5) };
    expect(loaded(await lab.jackin().load(loadRequest({ session: named })))).toMatchObject({
      instance_id: first.instance_id,
      tier: 0,
    });
  });

  test('at a terminal it asks, and every answer is done', async () => {
    const first = loaded(await lab.jackin().load(loadRequest()));
    await killAll(first.instance_id);
    const asked: string[][] = [];
    const answer = (choice: 'new' | 'resume' | 'abort') =>
      lab.jackin({
        attached: type('exit'),
        prompts: {
          available: true,
          chooseSession: async ({ candidates }) => {
            asked.push(candidates.map((row) => `${row.instance_id} ${row.what}`));
            return choice === 'resume' ? { choice, instance_id: first.instance_id } : { choice };
          },
        },
      });
    const aborted = await answer('abort').load(loadRequest());
    expect(aborted).toEqual({ kind: 'cancelled', document: { cancelled: true }, exitCode: 0 });
    expect(asked).toEqual([[`${first.instance_id} supervisor crashed`]]);
    expect(loaded(await answer('resume').load(loadRequest()))).toMatchObject({
      instance_id: first.instance_id,
      tier: 1,
    });
    expect(loaded(await answer('new').load(loadRequest())).instance_id).not.toBe(first.instance_id);
  });

  test('an ended session whose decision is pending can be finished from the list', async () => {
    await writeFile(join(lab.project, 'go'), '');
    const command = ['sh', '-c', 'exit 0'];
    const first = loaded(await lab.jackin().load(loadRequest({ command })));
    await lab.jackin().status({ instance: null, detail: false, sizes: false });
    const result = await lab
      .jackin({
        attached: type('exit'),
        prompts: {
          available: true,
          chooseSession: async ({ candidates }) => {
            const [row] = candidates;
            if (row === undefined) throw new Error('there was nothing to choose');
            return { choice: row.exit_pending ? 'finish' : 'abort', instance_id: row.instance_id } as never;
          },
        },
      })
      .load(loadRequest({ policy: 'keep' }));
    expect(['end', 'cancelled']).toContain(result.kind);
    expect(first.status).toBe('running');
  });
});

test('a launch that fails half way takes back what it made, keeps the rest and names it', async () => {
  // The socket directory cannot be made where a file sits.
  await mkdir(lab.paths.homeDir, { recursive: true, mode: 0o700 });
  await writeFile(lab.paths.socketsDir, 'in the way');
  const error = await refused(lab.jackin().load(loadRequest()));
  const base = error.details.container_base as string;
  expect(error.details.status).toBe('failed_setup');
  expect(await lab.manifest(base)).toMatchObject({
    status: 'failed_setup',
    exit_cause: { kind: 'setup_failed' },
  });
  const id = error.details.instance_id as string;
  expect((await lab.traces(id)).filter((trace) => trace.startsWith('process'))).toEqual([]);
  expect(
    await lab
      .jackin()
      .resume({ instance: id, policy: null, detach: true, ...quiet })
      .catch((e) => e.code),
  ).toBe(error.code);
});
