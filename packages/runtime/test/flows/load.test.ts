import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { CandidateRow } from '../../src/index.ts';
import {
  ended,
  killAll,
  type Lab,
  loaded,
  loadRequest,
  openLab,
  quiet,
  statusOf,
  type,
  until,
  untilItEnds,
} from './support.ts';

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
    const { instance_id: id } = loaded(await lab.jackin().load(loadRequest({ command: ['true'] })));
    await until(async () => (await statusOf(lab, id)).exit_pending);
    const result = await lab
      .jackin({
        attached: untilItEnds,
        prompts: {
          available: true,
          chooseSession: async ({ candidates }) => {
            expect(candidates).toMatchObject([{ instance_id: id, exit_pending: true }]);
            return { choice: 'finish', instance_id: id };
          },
        },
      })
      .load(loadRequest({ policy: 'keep' }));
    expect(ended(result)).toMatchObject({ outcome: 'kept', status: 'restore_available', exitCode: 0 });
    expect((await statusOf(lab, id)).exit_pending).toBe(false);
  });
});

test('a launch that fails half way takes back what it made, keeps the rest and names it', async () => {
  const broken = ['-e', 'console.error("a library is missing"); process.exit(7)', '--'];
  const jackin = lab.jackin({ capsule: { file: process.execPath, args: broken } });
  const error = await refused(jackin.load(loadRequest()));
  const base = error.details.container_base as string;
  expect(error.details.status).toBe('failed_setup');
  expect(await lab.manifest(base)).toMatchObject({
    status: 'failed_setup',
    exit_cause: {
      kind: 'setup_failed',
      evidence: expect.arrayContaining([expect.stringContaining('a library is missing')]),
    },
  });
  const id = error.details.instance_id as string;
  expect((await lab.traces(id)).filter((trace) => trace.startsWith('process'))).toEqual([]);
  const back = await lab.jackin().resume({ instance: id, policy: null, detach: true, ...quiet });
  expect(back).toMatchObject({ kind: 'resume', document: { tier: 1, status: 'running' } });
});
