import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  type AttachedLoad,
  agentPid,
  atTerminal,
  loadAttached,
  type RecordedWorktree,
  recordWorktree,
  WAITING,
} from './support/attached.ts';
import { capsulePid, ended, isAlive, keptOf } from './support/evidence.ts';
import { type Instance, killInstance, statusOf } from './support/instance.ts';
import { createSandbox, eventually, type Sandbox } from './support/sandbox.ts';
import type { TerminalSession } from './support/terminal.ts';

jest.setTimeout(120_000);

const SCREEN_A = 'Press Enter to continue, Ctrl-C to keep everything';
const SCREEN_B = 'Choose 1-3 [1]';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ENTER = '\r';

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

describe('the end of an attached session whose worktree nobody can look at', () => {
  test('shows the unfinished work with its reason before it asks how to end', async () => {
    const { terminal, instance } = await atScreenA();
    const first = terminal.screen().join('\n');
    expect(first).toContain(`shell (shell) · workspace ${sandbox.project} · ${instance.base}`);
    expect(first).toContain('This session has unfinished work in 1 isolated mount.');
    expect(first).toMatch(
      /worktree {2}\/workspace\/proj {2}unknown\n\s+could not be assessed: there is no \.git in the tree/,
    );
    expect(first).not.toContain(SCREEN_B);

    terminal.type(ENTER);
    await terminal.waitFor(SCREEN_B);
    const second = terminal.screen().join('\n');
    expect(second).toMatch(/1\. Return to agent[^\n]*\n\s+2\. Exit and keep[^\n]*\n\s+3\. Exit and clean up/);
    // Nothing is decided while the question stands.
    expect(isAlive(capsulePid(sandbox, instance))).toBe(true);
  });

  test('returns to the agent in the same instance, and the next exit is assessed afresh: the tree is gone, so it cleans up unasked', async () => {
    const { terminal, instance, agent, tree } = await atScreenB();
    const capsule = capsulePid(sandbox, instance);
    terminal.type(ENTER);
    await terminal.waitFor('ready 2', 60_000);
    const next = await agentPid(sandbox, instance, agent);
    expect(isAlive(next)).toBe(true);
    expect(capsulePid(sandbox, instance)).toBe(capsule);
    expect(sandbox.manifest(instance.base)).toMatchObject({ instance_id: instance.id, status: 'running' });
    expect(sandbox.manifest(instance.base)).not.toHaveProperty('exit_cause');

    tree.remove();
    terminal.type(ENTER);
    expect(await terminal.exited(60_000)).toBe(0);
    await terminal.waitFor(`${instance.base} was cleaned up.`);
    expect(await sandbox.traces(instance)).toEqual([]);
    expect(questions(terminal)).toBe(1);
  });

  test('asks again at the exit after a return, and keeps when told so', async () => {
    const { terminal, instance, agent, tree } = await atScreenB();
    terminal.type(ENTER);
    await terminal.waitFor('ready 2', 60_000);
    await agentPid(sandbox, instance, agent);
    terminal.type(ENTER);
    await eventually('the second question', () => questions(terminal) === 2);
    terminal.type(ENTER);
    await eventually('the second choice', () => terminal.output().split(SCREEN_B).length > 2);
    terminal.type(`2${ENTER}`);
    expect(await terminal.exited(60_000)).toBe(0);
    await terminal.waitFor(`${instance.base} is kept, status preserved_dirty, cause clean.`);
    await allKept(instance, tree);
    expect(sandbox.manifest(instance.base).keep.intent).toBe('operator');
  });

  test('is kept although clean-up was chosen, because what could not be looked at is never removed', async () => {
    const { terminal, instance, tree } = await atScreenB();
    terminal.type(`3${ENTER}`);
    expect(await terminal.exited(60_000)).toBe(4);
    await terminal.waitFor(`${instance.base} is kept, status preserved_dirty, cause clean.`);
    await terminal.waitFor('/workspace/proj could not be assessed: there is no .git in the tree');
    await allKept(instance, tree);
    expect(sandbox.manifest(instance.base).keep.intent).toBe('could_not_ask');
  });

  test('is kept by an answer to keep although the tree went away under the question', async () => {
    const { terminal, instance, tree } = await atScreenB();
    tree.remove();
    terminal.type(`2${ENTER}`);
    expect(await terminal.exited(60_000)).toBe(0);
    await terminal.waitFor(`${instance.base} is kept, status restore_available, cause clean.`);
    expect(keptOf(sandbox, instance)).toEqual(
      expect.arrayContaining([`${instance.base}/home/starts`, 'row']),
    );
    expect(sandbox.manifest(instance.base).keep.intent).toBe('operator');
  });

  test('is kept under --clean without a question, and says why', async () => {
    const { terminal, instance } = track(await loadAttached(sandbox, ['--clean']));
    const tree = recordWorktree(sandbox, instance);
    terminal.type(ENTER);
    expect(await terminal.exited(60_000)).toBe(4);
    await terminal.waitFor(`${instance.base} is kept, status preserved_dirty, cause clean.`);
    await terminal.waitFor('could not be assessed: there is no .git in the tree');
    expect(questions(terminal)).toBe(0);
    await allKept(instance, tree);
  });
});

describe('no answer at a question decides nothing', () => {
  const silences: [string, (terminal: TerminalSession) => void, 'A' | 'B'][] = [
    ['Ctrl-C at the unfinished work', (terminal) => terminal.type(CTRL_C), 'A'],
    ['the end of input at the unfinished work', (terminal) => terminal.type(CTRL_D), 'A'],
    ['Ctrl-C at the choice', (terminal) => terminal.type(CTRL_C), 'B'],
    ['the end of input at the choice', (terminal) => terminal.type(CTRL_D), 'B'],
  ];

  test.each(silences)('%s keeps everything, and the exit stays open', async (_what, answer, screen) => {
    const { terminal, instance, tree } = screen === 'A' ? await atScreenA() : await atScreenB();
    answer(terminal);
    expect(await terminal.exited(60_000)).toBe(0);
    await terminal.waitFor(`${instance.base} was left as it is, status clean_exited, cause clean.`);
    for (const next of [
      `resume ${instance.id}`,
      `stop ${instance.id} --keep`,
      `stop ${instance.id} --clean`,
    ]) {
      await terminal.waitFor(`jackin ${next}`);
    }
    await openStill(instance, tree);
  });

  test('a terminal that goes away at the question keeps everything, and the exit stays open', async () => {
    const { terminal, instance, tree } = await atScreenB();
    const jackin = terminal.jackinPid();
    terminal.close();
    await eventually('jackin is gone', () => !isAlive(jackin));
    await openStill(instance, tree);

    const { code, json } = await sandbox.jackin(['stop', instance.id, '--json']);
    expect({ code, data: json().data }).toMatchObject({
      code: 4,
      data: { outcome: 'kept', status: 'preserved_dirty', kept_without_choice: true },
    });
    await allKept(instance, tree);
    expect(sandbox.manifest(instance.base).keep.intent).toBe('could_not_ask');
  });

  test('a capsule that dies under the question changes nothing about what was seen before', async () => {
    const { terminal, instance, tree } = await atScreenB();
    await killInstance(instance);
    terminal.type(`2${ENTER}`);
    expect(await terminal.exited(60_000)).toBe(0);
    await terminal.waitFor(`${instance.base} is kept, status preserved_dirty, cause clean.`);
    await allKept(instance, tree);
  });
});

describe('an agent that somebody else brought back under the question', () => {
  test.each([
    ['keep', `2${ENTER}`],
    ['clean up', `3${ENTER}`],
    ['nothing', CTRL_C],
  ])('lives on whatever is answered: %s', async (_what, answer) => {
    const { terminal, instance, agent } = await atScreenB();
    const { json } = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
    expect(json().data).toMatchObject({ tier: 0, did_not_return: ['agent_process'] });
    const next = await agentPid(sandbox, instance, agent);

    terminal.type(answer);
    expect(await terminal.exited(60_000)).toBe(0);
    await terminal.waitFor(`${instance.base} runs on, status running.`);
    expect(isAlive(next)).toBe(true);
    expect(await statusOf(sandbox, instance)).toMatchObject({
      status: 'running',
      cause: null,
      agent_alive: 'yes',
    });
  });
});

describe('a stop at a terminal', () => {
  test('asks the same questions, and a return to the agent brings the instance back and attaches to it', async () => {
    const instance = await sandbox.loadShell(WAITING);
    const tree = recordWorktree(sandbox, instance);
    const before = await agentPid(sandbox, instance);
    const terminal = atTerminal(sandbox, ['stop', instance.id]);
    terminals.push(terminal);
    await terminal.waitFor(SCREEN_A, 60_000);
    expect(isAlive(before)).toBe(false);
    terminal.type(ENTER);
    await terminal.waitFor(SCREEN_B);
    terminal.type(ENTER);
    await terminal.waitFor('ready 2', 60_000);
    const after = await agentPid(sandbox, instance, before);
    expect(isAlive(after)).toBe(true);
    expect(sandbox.manifest(instance.base)).toMatchObject({ instance_id: instance.id, status: 'running' });

    terminal.type(ENTER);
    await eventually('the question of the next exit', () => questions(terminal) === 2);
    terminal.type(CTRL_C);
    expect(await terminal.exited(60_000)).toBe(0);
    await openStill(instance, tree);
  });
});

interface Asked extends AttachedLoad {
  agent: number;
  tree: RecordedWorktree;
}

/** An attached session whose agent has just ended, with a worktree nobody can look at. */
async function atScreenA(): Promise<Asked> {
  const { terminal, instance } = track(await loadAttached(sandbox));
  const tree = recordWorktree(sandbox, instance);
  const agent = await agentPid(sandbox, instance);
  terminal.type(ENTER);
  await terminal.waitFor(SCREEN_A, 60_000);
  return { terminal, instance, agent, tree };
}

async function atScreenB(): Promise<Asked> {
  const asked = await atScreenA();
  asked.terminal.type(ENTER);
  await asked.terminal.waitFor(SCREEN_B);
  return asked;
}

function track(load: AttachedLoad): AttachedLoad {
  terminals.push(load.terminal);
  return load;
}

/** How often the unfinished work was shown, and an answer waited for. */
function questions(terminal: TerminalSession): number {
  return terminal
    .output()
    .split('This session has unfinished work')
    .slice(1)
    .filter((text) => text.includes('Press Enter')).length;
}

async function allKept(instance: Instance, tree: RecordedWorktree): Promise<void> {
  await ended(instance);
  const { base } = instance;
  expect(readFileSync(tree.work, 'utf8')).toBe('the only copy');
  expect(keptOf(sandbox, instance)).toEqual(
    expect.arrayContaining([`${base}/home/starts`, `data/${base}.lock`, 'row', `sockets/${base}`]),
  );
}

/** Kept, and offered for a decision at the next opportunity. */
async function openStill(instance: Instance, tree: RecordedWorktree): Promise<void> {
  await allKept(instance, tree);
  expect(await statusOf(sandbox, instance)).toMatchObject({
    status: 'clean_exited',
    cause: 'clean',
    exit_pending: true,
    keep: null,
    isolated: [{ mount_dst: '/workspace/proj', kind: 'worktree', verdict: 'unknown' }],
  });
}
