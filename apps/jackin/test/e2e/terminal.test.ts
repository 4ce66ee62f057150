import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { agentPid, rows } from './support/attached.ts';
import { isAlive } from './support/evidence.ts';
import { type Instance, statusOf } from './support/instance.ts';
import { createSandbox, eventually, type Sandbox } from './support/sandbox.ts';
import { openTerminal, type TerminalSession } from './support/terminal.ts';

jest.setTimeout(120_000);

const DETACH = '\x02d';
/** Mouse with its encoding, alternate screen, bracketed paste, focus reports, application cursor keys, no cursor. */
const ARM_ALL = '\\033[?1049h\\033[?1000h\\033[?1006h\\033[?2004h\\033[?1004h\\033[?1h\\033[?25l';

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

function open(args: string[], size: { cols?: number; rows?: number } = {}): TerminalSession {
  const terminal = openTerminal(sandbox, args, { ...size, name: `t${terminals.length}` });
  terminals.push(terminal);
  return terminal;
}

function load(command: string[], size: { cols?: number; rows?: number } = {}): TerminalSession {
  const target = ['load', 'shell', sandbox.project, '--agent', 'shell', '--backend', 'standalone', '--new'];
  return open([...target, '--', ...command], size);
}

function onlyInstance(): Instance {
  const [instance] = rows(sandbox);
  if (instance === undefined) throw new Error('there is no instance');
  return instance;
}

/** An interactive shell without the machine's own start files. */
const SHELL = ['env', 'PS1=ready$ ', 'bash', '--norc', '--noprofile', '-i'];

/** Nothing of the program stays armed in the terminal, and its settings are those from before. */
async function expectRestored(terminal: TerminalSession): Promise<void> {
  await eventually('the settings are those from before', () => {
    const { before, after } = terminal.settings();
    return before !== '' && before === after;
  });
  await eventually('no mode is armed', () => {
    const { modes, buffer } = terminal.emulator;
    return (
      modes.mouseTrackingMode === 'none' &&
      !modes.bracketedPasteMode &&
      !modes.sendFocusMode &&
      !modes.applicationCursorKeysMode &&
      buffer.active.type === 'normal'
    );
  });
  expect(terminal.output().lastIndexOf('\x1b[?25h')).toBeGreaterThan(
    terminal.output().lastIndexOf('\x1b[?25l'),
  );
  expect(terminal.output().lastIndexOf('\x1b[?1006l')).toBeGreaterThan(
    terminal.output().lastIndexOf('\x1b[?1006h'),
  );
}

describe('attach in a terminal', () => {
  test('O65 the first paint has the size of the terminal, and a resize is followed', async () => {
    const terminal = load(SHELL, { cols: 132, rows: 50 });
    await terminal.waitFor('ready$');
    terminal.type('stty size\r');
    await terminal.waitFor('50 132');
    terminal.resize(90, 20);
    terminal.type('clear; until [ "$(stty size)" = "20 90" ]; do :; done; echo now $(stty size)\r');
    await terminal.waitFor('now 20 90');
    terminal.type(DETACH);
    expect(await terminal.exited()).toBe(0);

    const again = open(['hardline', onlyInstance().id], { cols: 101, rows: 33 });
    await again.waitFor('now 20 90');
    again.type('clear; stty size\r');
    await again.waitFor('33 101');
  });

  test('Ctrl-B d leaves a program running, and hardline repaints the same screen', async () => {
    const ticker =
      'printf "\\033[31mred\\033[0m \\033[1mbold\\033[0m \\033[44mwide 漢字 é\\033[0m\\n"; i=0; while :; do i=$((i+1)); echo $i >"$HOME/ticks"; sleep 0.05; done';
    const terminal = load(['sh', '-c', ticker]);
    await terminal.waitFor('wide 漢字');
    const before = cells(terminal);
    terminal.type(DETACH);
    expect(await terminal.exited()).toBe(0);
    await expectRestored(terminal);

    const instance = onlyInstance();
    const file = join(sandbox.state, 'data', instance.base, 'home/ticks');
    const ticks = () => Number(readFileSync(file, 'utf8'));
    const seen = ticks();
    await eventually('the program counts on without us', () => ticks() > seen + 3);
    expect(await statusOf(sandbox, instance)).toMatchObject({ status: 'running', agent_alive: 'yes' });

    const again = open(['hardline', instance.id]);
    await again.waitFor('wide 漢字');
    expect(cells(again)).toEqual(before);
  });

  test('a closed terminal leaves the session running', async () => {
    const terminal = load(SHELL);
    await terminal.waitFor('ready$');
    const instance = onlyInstance();
    const agent = await agentPid(sandbox, instance);
    const jackin = terminal.jackinPid();
    terminal.close();
    await eventually('jackin has gone with its terminal', () => !isAlive(jackin));
    expect(isAlive(agent)).toBe(true);
    expect(await statusOf(sandbox, instance)).toMatchObject({ status: 'running', agent_alive: 'yes' });
  });

  test('a second client sees the same screen, and the smaller size wins', async () => {
    const first = load(SHELL, { cols: 120, rows: 40 });
    await first.waitFor('ready$');
    const second = open(['hardline', onlyInstance().id], { cols: 80, rows: 24 });
    await second.waitFor('ready$');
    first.type('clear; stty size\r');
    await Promise.all([first.waitFor('24 80'), second.waitFor('24 80')]);
    second.type('echo typed by the "second"\r');
    await Promise.all([first.waitFor('typed by the second'), second.waitFor('typed by the second')]);
    second.type(DETACH);
    expect(await second.exited()).toBe(0);
    first.type('clear; until [ "$(stty size)" = "40 120" ]; do :; done; echo alone $(stty size)\r');
    await first.waitFor('alone 40 120');
  });

  test('the prefix works split over chunks and never inside a bracketed paste', async () => {
    const terminal = load(['sh', '-c', 'stty raw -echo; printf "reading\\r\\n"; od -An -v -tx1 -w1 -N24']);
    await terminal.waitFor('reading');
    terminal.type('\x1b[200~a\x02');
    terminal.type('d\x1b[201~');
    // Prefix twice is one literal prefix; prefix and another key are both the program's.
    terminal.type('\x02\x02\x02x........');
    await terminal.waitFor(/61\s+02\s+64\s+1b[\s\S]+02\s+02\s+78/);
    const detaching = load(SHELL);
    await detaching.waitFor('ready$');
    detaching.type('\x02');
    detaching.type('d');
    expect(await detaching.exited()).toBe(0);
  });

  test('O66 a repaint asks the terminal nothing and types nothing into the shell', async () => {
    const terminal = load(SHELL);
    await terminal.waitFor('ready$');
    terminal.type(
      "printf '\\033[c\\033[6n\\033[>c\\033]11;?\\007'; while read -t 1 -n 1 -s x; do :; done; clear; echo asked\r",
    );
    // The shell shows the word as typed, too, while its loop still swallows the answers and whatever is typed then.
    await terminal.waitFor(/^asked\nready\$$/m);
    terminal.type(DETACH);
    expect(await terminal.exited()).toBe(0);
    const again = open(['hardline', onlyInstance().id]);
    await again.waitFor(/^asked\nready\$$/m);
    const queries = ['\x1b[c', '\x1b[>c', '\x1b[6n', '\x1b]11;?'];
    for (const output of [terminal.output(), again.output()]) {
      expect(queries.filter((query) => output.includes(query))).toEqual([]);
    }
    again.type('echo "<$(date +%Y)>"\r');
    await again.waitFor(`<${new Date().getFullYear()}>`);
  });
});

describe('O64 the terminal is restored', () => {
  const armed = ['sh', '-c', `stty raw -echo; printf '${ARM_ALL}armed'; exec sleep 1000`];

  async function loadArmed(): Promise<{ terminal: TerminalSession; instance: Instance }> {
    const terminal = load(armed);
    await terminal.waitFor('armed');
    expect(terminal.emulator.modes.mouseTrackingMode).not.toBe('none');
    expect(terminal.emulator.buffer.active.type).toBe('alternate');
    return { terminal, instance: onlyInstance() };
  }

  test('after SIGKILL of the agent', async () => {
    const { terminal, instance } = await loadArmed();
    process.kill(await agentPid(sandbox, instance), 'SIGKILL');
    expect(await terminal.exited()).toBe(4);
    await expectRestored(terminal);
  });

  test('after SIGKILL of the capsule', async () => {
    const { terminal, instance } = await loadArmed();
    process.kill(sandbox.manifest(instance.base).backend.standalone.pid, 'SIGKILL');
    expect(await terminal.exited()).toBe(4);
    await expectRestored(terminal);
    expect(await statusOf(sandbox, instance)).toMatchObject({ status: 'crashed', cause: 'capsule_crash' });
  });

  test('after SIGKILL of jackin', async () => {
    const { terminal, instance } = await loadArmed();
    process.kill(terminal.jackinPid(), 'SIGKILL');
    expect(await terminal.exited()).toBe(137);
    await expectRestored(terminal);
    expect(await statusOf(sandbox, instance)).toMatchObject({ status: 'running', agent_alive: 'yes' });
  });

  test('after SIGTERM of jackin, and after Ctrl-B d', async () => {
    const { terminal, instance } = await loadArmed();
    process.kill(terminal.jackinPid(), 'SIGTERM');
    await terminal.exited();
    await expectRestored(terminal);
    const again = open(['hardline', instance.id]);
    await again.waitFor('armed');
    expect(again.emulator.buffer.active.type).toBe('alternate');
    again.type(DETACH);
    expect(await again.exited()).toBe(0);
    await expectRestored(again);
  });
});

/** Characters, colours and weight of every visible cell that is not blank. */
function cells({ emulator }: TerminalSession): string[] {
  const seen: string[] = [];
  const { active } = emulator.buffer;
  for (let row = 0; row < emulator.rows; row += 1) {
    const line = active.getLine(active.viewportY + row);
    for (let col = 0; col < emulator.cols; col += 1) {
      const cell = line?.getCell(col);
      const text = cell?.getChars() ?? '';
      if (cell === undefined || text.trim() === '') continue;
      seen.push(`${row}:${col} ${text} fg${cell.getFgColor()} bg${cell.getBgColor()} bold${cell.isBold()}`);
    }
  }
  return seen;
}
