import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { agentPid, WAITING } from './support/attached.ts';
import { isAlive, keptOf, snapshot } from './support/evidence.ts';
import { type Instance, killInstance, processesOf, statusOf } from './support/instance.ts';
import { BIN, createSandbox, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(120_000);

const EXECUTE_PLAN = fileURLToPath(new URL('support/execute-plan.ts', import.meta.url));

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

describe('a dry run shows the plan and changes nothing', () => {
  test('of a load on a machine where nothing was ever loaded, not even a directory is made', async () => {
    const { code, json } = await sandbox.jackin([...LOAD(), '--dry-run', '--json']);
    const { plan } = json().data;
    expect({ code, kind: plan.kind, tier: plan.tier }).toEqual({ code: 0, kind: 'launch', tier: null });
    expect(ops(plan).slice(0, 1)).toEqual(['create_instance']);
    expect(snapshot(sandbox.state)).toEqual(['nothing']);
    const text = await sandbox.jackin([...LOAD(), '--dry-run']);
    expect(text.stdout).toContain('Dry run: nothing was changed.');
    expect(snapshot(sandbox.state)).toEqual(['nothing']);
  });

  test.each(['running', 'crashed and not looked at since'])(
    'of every verb for an instance that is %s',
    async (state) => {
      const instance = await sandbox.loadShell(WAITING);
      if (state !== 'running') await killInstance(instance);
      const processes = await processesOf(instance.id);
      const before = snapshot(sandbox.state);
      const verbs: [string[], string][] = [
        [
          [
            'load',
            ...LOAD()
              .slice(1)
              .filter((word) => word !== '--new'),
            '--resume',
          ],
          'restore',
        ],
        [['resume', instance.id], 'restore'],
        [['stop', instance.id], 'stop'],
        [['stop', instance.id, '--clean'], 'stop'],
        [['eject', instance.id], 'eject'],
        [['purge', instance.id], 'clean'],
      ];
      for (const [verb, kind] of verbs) {
        const { code, json } = await sandbox.jackin([...verb, '--dry-run', '--json']);
        const { plan } = json().data;
        expect({ verb, code, kind: plan.kind, id: plan.instance_id }).toEqual({
          verb,
          code: 0,
          kind,
          id: instance.id,
        });
        expect({ verb, files: snapshot(sandbox.state) }).toEqual({ verb, files: before });
      }
      const { code, json } = await sandbox.jackin(['exile', '--dry-run', '--json']);
      expect(code).toBe(0);
      expect(json().data.plans.map((plan: Plan) => plan.instance_id)).toEqual(
        state === 'running' ? [instance.id] : [],
      );
      expect(snapshot(sandbox.state)).toEqual(before);
      expect(await processesOf(instance.id)).toEqual(processes);
    },
  );

  test('says of a stop what becomes of the instance, by flag and policy', async () => {
    const instance = await sandbox.loadShell(WAITING);
    const removes = async (...flags: string[]) => {
      const { plan } = (await sandbox.jackin(['stop', instance.id, ...flags, '--dry-run', '--json'])).json()
        .data;
      return plan.steps.flatMap((step: { removes: string[] }) => step.removes).join('\n');
    };
    expect(await removes('--keep')).not.toContain('data of');
    expect(await removes('--clean')).toContain(`data of ${instance.base}: home, conversation, settings`);
    expect(await removes()).toContain('data of');
    sandbox.writeConfig('dirty_exit_policy = "keep"\n');
    expect(await removes()).not.toContain('data of');
  });
});

describe('a dry run that another program parses and executes has the effect of the command', () => {
  test('a load', async () => {
    const plan = await dryRun([...LOAD(), '--', ...WAITING]);
    const planned = await executed(plan);
    const { json } = await sandbox.jackin([...LOAD(), '--detach', '--json', '--', ...WAITING]);
    const commanded = { id: json().data.instance_id, base: json().data.container_base };
    for (const instance of [planned, commanded])
      expect(isAlive(await agentPid(sandbox, instance))).toBe(true);
    expect(alike(planned, keptOf(sandbox, planned))).toEqual(alike(commanded, keptOf(sandbox, commanded)));
    expect(alike(planned, sandbox.manifest(planned.base))).toEqual(
      alike(commanded, sandbox.manifest(commanded.base)),
    );
    expect(alike(planned, await statusOf(sandbox, planned))).toEqual(
      alike(commanded, await statusOf(sandbox, commanded)),
    );
    expect(stepsOf(planned)).toEqual(stepsOf(commanded));
    expect(stepsOf(planned)).toEqual(
      ops(plan).map((op) => `${op} ${op === 'create_resources' ? 'skipped' : 'done'}`),
    );
  });

  test('a stop --clean', async () => {
    const [planned, commanded] = [await sandbox.loadShell(WAITING), await sandbox.loadShell(WAITING)];
    const plan = await dryRun(['stop', planned.id, '--clean']);
    await executed(plan);
    const { code } = await sandbox.jackin(['stop', commanded.id, '--clean', '--json']);
    expect(code).toBe(0);
    for (const instance of [planned, commanded]) expect(await sandbox.traces(instance)).toEqual([]);
    expect(stepsOf(planned)).toEqual(stepsOf(commanded));
    expect(stepsOf(planned).map((step) => step.split(' ')[0])).toEqual(expect.arrayContaining(ops(plan)));
  });

  test('a stop --keep', async () => {
    const [planned, commanded] = [await sandbox.loadShell(WAITING), await sandbox.loadShell(WAITING)];
    await executed(await dryRun(['stop', planned.id, '--keep']));
    await sandbox.jackin(['stop', commanded.id, '--keep', '--json']);
    expect(alike(planned, keptOf(sandbox, planned))).toEqual(alike(commanded, keptOf(sandbox, commanded)));
    const kept = (instance: Instance) => {
      const { status, exit_cause: cause, keep } = sandbox.manifest(instance.base);
      return { status, kind: cause.kind, intent: keep.intent };
    };
    expect(kept(planned)).toEqual({ status: 'restore_available', kind: 'jackin_stop', intent: 'operator' });
    expect(kept(planned)).toEqual(kept(commanded));
    expect(stepsOf(planned)).toEqual(stepsOf(commanded));
  });

  test('a purge', async () => {
    const [planned, commanded] = [await sandbox.loadShell(WAITING), await sandbox.loadShell(WAITING)];
    await executed(await dryRun(['purge', planned.id]));
    const { code } = await sandbox.jackin(['purge', commanded.id, '--yes', '--json']);
    expect(code).toBe(0);
    for (const instance of [planned, commanded]) expect(await sandbox.traces(instance)).toEqual([]);
    expect(stepsOf(planned)).toEqual(stepsOf(commanded));
  });

  test('and it is refused when what justified it is not true any more', async () => {
    const instance = await sandbox.loadShell(WAITING);
    await killInstance(instance);
    const plan = await dryRun(['purge', instance.id]);
    const back = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
    expect(back.code).toBe(0);
    const before = keptOf(sandbox, instance);
    await expect(executed(plan)).rejects.toThrow('STATE_CHANGED');
    expect(keptOf(sandbox, instance)).toEqual(before);
    expect(isAlive(await agentPid(sandbox, instance))).toBe(true);
  });
});

interface Plan {
  plan_id: string;
  kind: string;
  instance_id: string;
  container_base: string;
  steps: { op: string }[];
}

function LOAD(): string[] {
  return ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--backend', 'standalone'];
}

/** The plan as a script gets it: text that was printed. */
async function dryRun(command: string[]): Promise<Plan> {
  const at = command.indexOf('--');
  const [own, tail] = at === -1 ? [command, []] : [command.slice(0, at), command.slice(at)];
  const { code, json, stdout } = await sandbox.jackin([...own, '--dry-run', '--json', ...tail]);
  expect(code).toBe(0);
  const { plan } = json().data;
  writeFileSync(join(sandbox.root, `${plan.plan_id}.json`), stdout);
  return plan;
}

async function executed(plan: Plan): Promise<Instance> {
  const file = join(sandbox.root, `${plan.plan_id}.json`);
  const capsule = join(dirname(BIN), 'capsule.mjs');
  const args = ['--conditions=@jackin/source', EXECUTE_PLAN, file, capsule];
  await promisify(execFile)(process.execPath, args, { env: sandbox.env });
  return { id: plan.instance_id, base: plan.container_base };
}

function ops(plan: Plan): string[] {
  return plan.steps.map(({ op }) => op);
}

/** Operation and outcome of every step that was carried out for an instance, whatever plans they were in. */
function stepsOf({ base }: Instance): string[] {
  const events = sandbox.events();
  const plans = events.filter(({ type, container_base }) => type === 'plan' && container_base === base);
  const ids = new Set(plans.map(({ plan_id }) => plan_id));
  return events
    .filter(({ type, plan_id, state }) => type === 'step' && ids.has(plan_id) && state !== 'started')
    .map(({ op, state }) => `${op} ${state}`);
}

/** Two instances differ in their names, processes and moments, and in nothing else. */
function alike(instance: Instance, value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(instance.id, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'MOMENT')
    .replaceAll(/"session_id":"[^"]+"/g, '"session_id":"SESSION"')
    .replaceAll(/"pid":\d+,"start_time":"\d+"/g, '"process":"PROCESS"');
  return JSON.parse(text);
}
