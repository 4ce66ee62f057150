import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { fakeAgent } from './support/agents.ts';
import { agentPid, atTerminal, loadAttached, recordWorktree, rows, WAITING } from './support/attached.ts';
import { ended, isAlive, keptOf } from './support/evidence.ts';
import { type Instance, statusOf } from './support/instance.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';
import type { TerminalSession } from './support/terminal.ts';

jest.setTimeout(120_000);

type Policy = 'ask' | 'keep' | 'clean';
type Flag = '--keep' | '--clean' | null;

interface Outcome {
  outcome: 'kept' | 'cleaned';
  /** Whose decision it was to keep it. */
  intent?: 'operator' | 'policy' | 'could_not_ask';
  exitCode: 0 | 4;
  policy: { value: Policy; source: 'flag' | 'global' };
}

const cleaned = (value: Policy, source: 'flag' | 'global'): Outcome => ({
  outcome: 'cleaned',
  exitCode: 0,
  policy: { value, source },
});
const keptBy = (
  intent: Outcome['intent'],
  value: Policy,
  source: 'flag' | 'global',
  exitCode: 0 | 4 = 0,
): Outcome => ({
  outcome: 'kept',
  intent: intent as 'operator',
  exitCode,
  policy: { value, source },
});

/** A clean end with nothing unfinished: what every policy and flag makes of it, however the session ended. */
const CLEAN_ENDS: [Policy, Flag, Outcome][] = [
  ['ask', null, cleaned('ask', 'global')],
  ['ask', '--keep', keptBy('operator', 'keep', 'flag')],
  ['ask', '--clean', cleaned('clean', 'flag')],
  ['keep', null, keptBy('policy', 'keep', 'global')],
  ['keep', '--keep', keptBy('operator', 'keep', 'flag')],
  ['keep', '--clean', cleaned('clean', 'flag')],
  ['clean', null, cleaned('clean', 'global')],
  ['clean', '--keep', keptBy('operator', 'keep', 'flag')],
  ['clean', '--clean', cleaned('clean', 'flag')],
];

/** The same with a tree nobody can look at, and nobody to ask: it is never removed. */
const UNSEEN_TREES: [Policy, Flag, Outcome][] = [
  ['ask', null, keptBy('could_not_ask', 'ask', 'global', 4)],
  ['keep', null, keptBy('policy', 'keep', 'global')],
  ['clean', null, keptBy('could_not_ask', 'clean', 'global', 4)],
  ['clean', '--keep', keptBy('operator', 'keep', 'flag')],
  ['keep', '--clean', keptBy('could_not_ask', 'clean', 'flag', 4)],
];

const POLICIES: Policy[] = ['ask', 'keep', 'clean'];
const FLAGS: Flag[] = [null, '--keep', '--clean'];
const given = (flag: Flag) => (flag === null ? [] : [flag]);

let sandbox: Sandbox;
let terminals: TerminalSession[];

beforeEach(() => {
  sandbox = createSandbox();
  terminals = [];
});
afterEach(async () => {
  for (const terminal of terminals) terminal.close();
  await sandbox.dispose();
});

describe('a clean end with nothing unfinished', () => {
  test.each(CLEAN_ENDS)('attached in a terminal, policy %s, flag %s', async (policy, flag, outcome) => {
    configure(policy);
    const { terminal, instance } = await loadAttached(sandbox, given(flag));
    terminals.push(terminal);
    const before = keptOf(sandbox, instance);
    terminal.type('\r');
    expect(await terminal.exited(60_000)).toBe(outcome.exitCode);
    const kept = 'is kept, status restore_available, cause clean.';
    await terminal.waitFor(`${instance.base} ${outcome.outcome === 'kept' ? kept : 'was cleaned up.'}`);
    await terminal.waitFor(`policy    ${outcome.policy.value} (${outcome.policy.source})`);
    await left(instance, before, outcome, 'clean');
    expect(asked(terminal)).toBe(false);
  });

  test.each(CLEAN_ENDS)(
    'detached with nobody there, then by stop, policy %s, flag %s',
    async (policy, flag, outcome) => {
      configure(policy);
      const instance = await sandbox.loadShell(['sh', '-c', 'exit 0']);
      const before = keptOf(sandbox, instance);
      await ended(instance);
      // Looking decides nothing.
      expect(await statusOf(sandbox, instance)).toMatchObject({
        status: 'clean_exited',
        cause: 'clean',
        exit_pending: true,
        keep: null,
      });
      expect(keptOf(sandbox, instance)).toEqual(expect.arrayContaining(before));
      expect(decisions()).toEqual([]);
      await stopped(instance, before, flag, outcome, 'clean');
    },
  );

  test.each(CLEAN_ENDS)('by a stop of a living agent, policy %s, flag %s', async (policy, flag, outcome) => {
    configure(policy);
    const instance = await sandbox.loadShell(WAITING);
    const before = keptOf(sandbox, instance);
    const agent = await agentPid(sandbox, instance);
    await stopped(instance, before, flag, outcome, 'jackin_stop');
    expect(isAlive(agent)).toBe(false);
  });

  test('counts by the policy of the workspace before the global one', async () => {
    configure('clean');
    workspace('kept', 'keep');
    const first = await loadWorkspace('kept');
    const before = keptOf(sandbox, first);
    const { code, json } = await sandbox.jackin(['stop', first.id, '--json']);
    expect({ code, data: json().data }).toMatchObject({
      code: 0,
      data: { outcome: 'kept', policy: { value: 'keep', source: 'workspace' } },
    });
    expect(keptOf(sandbox, first)).toEqual(
      expect.arrayContaining(before.filter((name) => !name.endsWith('.sock'))),
    );

    configure('keep');
    workspace('kept', 'clean');
    const second = await loadWorkspace('kept');
    const gone = await sandbox.jackin(['stop', second.id, '--json']);
    expect(gone.json().data).toMatchObject({
      outcome: 'cleaned',
      policy: { value: 'clean', source: 'workspace' },
    });
    expect(await sandbox.traces(second)).toEqual([]);
  });
});

describe('a clean end with a tree nobody can look at', () => {
  test.each(UNSEEN_TREES)('by stop without a terminal, policy %s, flag %s', async (policy, flag, outcome) => {
    configure(policy);
    const instance = await sandbox.loadShell(WAITING);
    const { work } = recordWorktree(sandbox, instance);
    const before = keptOf(sandbox, instance);
    const { data, code } = await stop(instance, flag);
    expect({ code, data }).toMatchObject({
      code: outcome.exitCode,
      data: {
        outcome: 'kept',
        status: 'preserved_dirty',
        policy: outcome.policy,
        kept_without_choice: outcome.exitCode === 4,
        next_commands: [`jackin resume ${instance.id}`, `jackin purge ${instance.id}`],
      },
    });
    expect(data.kept.join('\n')).toContain(
      'worktree /workspace/proj: unknown (there is no .git in the tree)',
    );
    expect(sandbox.manifest(instance.base).keep.intent).toBe(outcome.intent);
    expect(keptOf(sandbox, instance)).toEqual(expect.arrayContaining(before));
    expect(readFileSync(work, 'utf8')).toBe('the only copy');
  });
});

describe('an end that was not clean', () => {
  test.each(POLICIES)(
    'attached in a terminal is kept with exit code 4 under policy %s and every flag',
    async (policy) => {
      configure(policy);
      const codex = fakeAgent(sandbox, 'codex', 'exit 3');
      for (const flag of FLAGS) {
        const command = [
          'load',
          'agent-smith',
          sandbox.project,
          '--agent',
          'codex',
          '--backend',
          'standalone',
          '--new',
        ];
        const known = rows(sandbox).map(({ id }) => id);
        const terminal = atTerminal(sandbox, [...command, ...given(flag)], codex.env);
        terminals.push(terminal);
        expect({ flag, code: await terminal.exited(60_000) }).toEqual({ flag, code: 4 });
        const instance = rows(sandbox).find(({ id }) => !known.includes(id)) as Instance;
        await terminal.waitFor(`${instance.base} is kept, status crashed, cause agent_crash.`);
        await terminal.waitFor('exit code 3');
        expect(sandbox.manifest(instance.base)).toMatchObject({
          status: 'crashed',
          exit_cause: { kind: 'agent_crash', exit_code: 3 },
        });
        expect(keptOf(sandbox, instance)).toEqual(expect.arrayContaining([`${instance.base}/home`, 'row']));
      }
      expect(decisions()).toEqual([]);
    },
  );

  test.each(POLICIES)(
    'with nobody there is kept by every stop with exit code 4 under policy %s',
    async (policy) => {
      configure(policy);
      const codex = fakeAgent(sandbox, 'codex', 'exit 3');
      const instance = await codex.load();
      const before = keptOf(sandbox, instance);
      await ended(instance);
      for (const flag of FLAGS) {
        const { code, data } = await stop(instance, flag);
        expect({ flag, code, data }).toMatchObject({
          flag,
          code: 4,
          data: {
            outcome: 'kept',
            status: 'crashed',
            cause: 'agent_crash',
            agent_exit: { code: 3, signal: null },
            kept_without_choice: true,
            removed: [],
          },
        });
      }
      expect(keptOf(sandbox, instance)).toEqual(expect.arrayContaining(before));
      expect(decisions()).toEqual([]);
    },
  );
});

function configure(policy: Policy): void {
  sandbox.writeConfig(`dirty_exit_policy = "${policy}"\n`);
}

function workspace(name: string, policy: Policy): void {
  const directory = join(sandbox.config, 'workspaces');
  mkdirSync(directory, { recursive: true });
  const mount = `[[mounts]]\nsrc = "${sandbox.project}"\ndst = "/workspace/${name}"\n`;
  const text = `workdir = "/workspace/${name}"\ndirty_exit_policy = "${policy}"\n${mount}`;
  writeFileSync(join(directory, `${name}.toml`), text);
}

async function loadWorkspace(name: string): Promise<Instance> {
  const command = [
    'load',
    'shell',
    name,
    '--agent',
    'shell',
    '--backend',
    'standalone',
    '--new',
    '--detach',
    '--json',
  ];
  const { data } = (await sandbox.jackin([...command, '--', ...WAITING])).json();
  return { id: data.instance_id, base: data.container_base };
}

async function stop({ id }: Instance, flag: Flag) {
  const { code, json } = await sandbox.jackin(['stop', id, ...given(flag), '--json']);
  return { code, data: json().data };
}

async function stopped(instance: Instance, before: string[], flag: Flag, outcome: Outcome, cause: string) {
  const { code, data } = await stop(instance, flag);
  expect({ code, data }).toMatchObject({
    code: outcome.exitCode,
    data: {
      outcome: outcome.outcome,
      status: outcome.outcome === 'kept' ? 'restore_available' : null,
      cause,
      policy: outcome.policy,
      kept_without_choice: false,
    },
  });
  await left(instance, before, outcome, cause);
}

/** What there is of the instance afterwards: nothing at all, or everything but what ran. */
async function left(instance: Instance, before: string[], outcome: Outcome, cause: string): Promise<void> {
  if (outcome.outcome === 'cleaned') {
    expect(await sandbox.traces(instance)).toEqual([]);
    return;
  }
  await ended(instance);
  expect(keptOf(sandbox, instance)).toEqual(expect.arrayContaining(before));
  expect(sandbox.manifest(instance.base)).toMatchObject({
    status: 'restore_available',
    exit_cause: { kind: cause },
    keep: { intent: outcome.intent },
  });
}

/** Plans of a decision about the end that ran in this sandbox. */
function decisions(): string[] {
  return sandbox
    .events()
    .filter(({ type, kind }) => type === 'plan' && (kind === 'keep' || kind === 'clean'))
    .map(({ kind }) => kind);
}

function asked(terminal: TerminalSession): boolean {
  return /Choose 1-3|Press Enter to continue/.test(terminal.output());
}
