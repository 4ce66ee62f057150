import { describe, expect, jest, test } from '@jest/globals';
import { type Lab, startLab, terminalNow } from './support/lab.ts';
import { untilProcessIsGone, untilProcessIsStopped } from './support/processes.ts';

// Real processes, on a machine that may be busy.
jest.setTimeout(90_000);

const DETACH = '\u0002d';
const showSize = (cols: number, rows: number): string => `\u001b[H\u001b[2Jpainted for ${cols}x${rows} `;

async function attached(options: Parameters<typeof startLab>[0] = {}): Promise<Lab & { pid: number }> {
  const lab = await startLab({ ...options, capsule: { repaint: showSize, ...options.capsule } });
  const pid = await lab.terminal.report('pid');
  await lab.terminal.screen('painted for');
  return { ...lab, pid };
}

describe('size', () => {
  test('the first paint has the size of the terminal', async () => {
    await using lab = await attached({ cols: 132, rows: 50 });
    await lab.terminal.screen('painted for 132x50');
    expect(lab.capsule.attaches).toEqual([{ cols: 132, rows: 50 }]);
  });

  test('follows the window', async () => {
    await using lab = await attached();
    lab.terminal.resize(100, 30);
    await lab.capsule.until('the size', () =>
      lab.capsule.sizes.some(({ cols, rows }) => cols === 100 && rows === 30),
    );
    lab.terminal.resize(61, 17);
    await lab.capsule.until('the size', () =>
      lab.capsule.sizes.some(({ cols, rows }) => cols === 61 && rows === 17),
    );
  });
});

describe('another client', () => {
  test('that makes the session smaller, or lets it grow again, causes a repaint', async () => {
    await using lab = await attached();
    const resized = { type: 'resized', session_id: 'session-1' } as const;
    lab.capsule.send({ ...resized, cols: 60, rows: 20 });
    await lab.capsule.until('a repaint', () => lab.capsule.attaches.length === 2);
    expect(lab.capsule.attaches[1]).toEqual({ cols: 80, rows: 24 });
  });
});

describe('bytes', () => {
  test('typed reach the session as they are, control keys included', async () => {
    await using lab = await attached();
    const typed = 'a\u0003\u001a\u001c\u0004\u0011\u0013\r\n\u007f\u001b[A\u0002x\u00fc';
    lab.terminal.pty.write(typed);
    await lab.capsule.until('the keys', () => lab.capsule.input.length >= Buffer.byteLength(typed));
    expect(lab.capsule.input).toBe(Buffer.from(typed).toString('latin1'));
  });

  test('typed before the session is on screen are not lost', async () => {
    await using lab = await startLab({ capsule: { repaint: showSize } });
    await lab.terminal.report('pid');
    lab.terminal.pty.write('early\n');
    await lab.capsule.until('the keys', () => lab.capsule.input.includes('early\n'));
  });

  test('of the session reach the terminal as they are: a line feed moves down and not left', async () => {
    await using lab = await attached();
    lab.capsule.print('\u001b[H\u001b[2Jabc\nd');
    await lab.terminal.screen(/^abc\n {3}d$/);
  });

  test('the screen the operator had stays in the history of the terminal', async () => {
    await using lab = await startLab({
      capsule: { repaint: showSize },
      rows: 5,
      shellFirst: 'echo my own work',
    });
    await lab.terminal.screen('painted for');
    const { active } = lab.terminal.emulator.terminal.buffer;
    const lines = Array.from({ length: active.length }, (_, row) =>
      active.getLine(row)?.translateToString(true),
    );
    expect(lines[0]).toBe('my own work');
    expect(lines.filter((line) => line === '').length).toBeLessThanOrEqual(5);
  });
});

describe('a terminal that takes no output', () => {
  const LINE = `${'x'.repeat(78)}\r\n`;
  /** Of 64 KB each: more than every buffer between the capsule and the screen holds. */
  const FLOOD_PIECES = 40;

  /** Fills every buffer on the way until the capsule itself cannot write any more. */
  async function frozen(): Promise<Lab & { pid: number }> {
    const lab = await attached();
    lab.terminal.pty.pause();
    for (let sent = 0; sent < FLOOD_PIECES; sent++) lab.capsule.print(LINE.repeat(820));
    return lab;
  }

  test('slows the capsule down and loses nothing', async () => {
    await using lab = await frozen();
    lab.capsule.print('the last line');
    lab.terminal.pty.write('still typing');
    await lab.capsule.until('the keys', () => lab.capsule.input === 'still typing');
    expect(lab.capsule.unsent).toBeGreaterThan(1024 * 1024);
    lab.terminal.pty.resume();
    await lab.terminal.screen('the last line');
    expect(lab.capsule.unsent).toBe(0);
    expect(lab.terminal.output.toString('latin1').split(LINE)).toHaveLength(FLOOD_PIECES * 820 + 1);
  });

  test('is left by a detach without waiting for the rest', async () => {
    await using lab = await frozen();
    lab.terminal.pty.write(DETACH);
    await lab.terminal.report('outcome');
    expect(lab.terminal.reports.at(-1)?.outcome).toEqual({ kind: 'detached' });
    expect(lab.terminal.output.length).toBeLessThan(1024 * 1024);
  });

  test('does not hold up SIGTERM, and is restored when it takes output again', async () => {
    await using lab = await frozen();
    lab.capsule.print('\u001b[?1003h');
    process.kill(lab.pid, 'SIGTERM');
    expect(await lab.terminal.report('outcome')).toEqual({ kind: 'hangup', signal: 'SIGTERM' });
    await untilProcessIsGone(lab.pid);
    lab.terminal.pty.resume();
    await lab.terminal.until('the shell', () => lab.terminal.output.includes('left with'));
    await lab.terminal.until(
      'the modes',
      () => JSON.stringify(lab.before.state) === JSON.stringify(lab.terminal.emulator.state()),
    );
    expect(terminalNow(lab)).toEqual(lab.before);
  });
});

describe('stopped and continued', () => {
  test('SIGCONT takes the terminal again and asks for the whole screen', async () => {
    await using lab = await attached();
    const raw = lab.terminal.settings();
    process.kill(lab.pid, 'SIGSTOP');
    await untilProcessIsStopped(lab.pid);
    lab.terminal.stty('sane');
    lab.terminal.resize(90, 20);
    process.kill(lab.pid, 'SIGCONT');
    await lab.terminal.screen('painted for 90x20');
    expect(lab.terminal.settings()).toBe(raw);
    lab.terminal.pty.write(DETACH);
    await lab.terminal.screen('left with 0');
  });

  test('SIGTSTP gives the terminal back first', async () => {
    await using lab = await attached();
    lab.capsule.print('\u001b[?1049h\u001b[?1003h armed');
    await lab.terminal.screen('armed');
    process.kill(lab.pid, 'SIGTSTP');
    await untilProcessIsStopped(lab.pid);
    await lab.terminal.until('the modes', () => lab.terminal.emulator.state().mouse === 'none');
    expect(terminalNow(lab)).toEqual(lab.before);
    process.kill(lab.pid, 'SIGCONT');
    await lab.capsule.until('another attach', () => lab.capsule.attaches.length === 2);
    lab.terminal.pty.write(DETACH);
    await lab.terminal.screen('left with 0');
    expect(terminalNow(lab)).toEqual(lab.before);
  });
});

describe('the end', () => {
  test('closing the terminal is a hangup, and the capsule keeps its session', async () => {
    await using lab = await attached();
    lab.terminal.hangUp();
    expect(await lab.terminal.report('outcome')).toMatchObject({ kind: 'hangup' });
    await lab.capsule.until('the close', () => lab.capsule.openConnections === 0);
  });

  test('after the agent ended the connection holds until the decision, and the terminal can ask', async () => {
    await using lab = await attached();
    lab.capsule.print('\u001b[H\u001b[2Jlast words');
    lab.capsule.endSession({ code: null, signal: 'SIGKILL', oom: true });
    expect(await lab.terminal.report('outcome')).toMatchObject({
      kind: 'ended',
      code: null,
      signal: 'SIGKILL',
      oom: true,
    });
    expect(await lab.terminal.screen('what now?')).toMatch(/^last words\nwhat now\?/);
    expect(await lab.terminal.report('stdin')).toEqual({ raw: false, paused: true, listeners: 0 });
    expect(await lab.terminal.report('signalsAsBefore')).toBe(true);
    expect(lab.capsule.openConnections).toBe(1);
    lab.terminal.pty.write('keep\r');
    expect(await lab.terminal.report('answer')).toBe('keep');
    await lab.capsule.until('the release', () => lab.capsule.openConnections === 0);
  });

  test('after it attach can be run again: return to the agent', async () => {
    await using lab = await attached();
    lab.capsule.endSession({ code: 0, signal: null, oom: false });
    await lab.terminal.screen('what now?');
    lab.capsule.startSession();
    lab.terminal.pty.write('return\r');
    await lab.capsule.until('another attach', () => lab.capsule.attaches.length === 2);
    await lab.terminal.screen('painted for');
    lab.terminal.pty.write(`again${DETACH}`);
    await lab.terminal.screen('left with 0');
    expect(lab.capsule.input).toBe('again');
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test('a session that was dead already is an end', async () => {
    await using lab = await attached({ capsule: { dead: true } });
    expect(await lab.terminal.report('outcome')).toMatchObject({ kind: 'ended', code: 4 });
  });

  test('another session that ends changes nothing', async () => {
    await using lab = await attached();
    const session = { ...lab.capsule.session, session_id: 'another', alive: false };
    lab.capsule.send({ type: 'session_ended', session });
    lab.capsule.print('going on');
    await lab.terminal.screen('going on');
    lab.terminal.pty.write(DETACH);
    expect(await lab.terminal.report('outcome')).toEqual({ kind: 'detached' });
  });

  test('a capsule that stops takes the session with it: that is a loss, nobody waits for a decision', async () => {
    await using lab = await attached();
    lab.capsule.send({ type: 'stopping', ended_by: 'request' });
    lab.capsule.endSession({ code: null, signal: 'SIGTERM', oom: false });
    lab.capsule.drop();
    expect(await lab.terminal.report('outcome')).toMatchObject({ kind: 'lost' });
  });
});

describe('before the session is on screen', () => {
  test('a capsule that cannot be reached is a loss, and the terminal was never touched', async () => {
    await using lab = await startLab({ env: { SOCKET: '/nonexistent/capsule.sock' } });
    expect(await lab.terminal.report('outcome')).toMatchObject({
      kind: 'lost',
      reason: expect.stringContaining('ENOENT'),
    });
    await lab.terminal.screen('left with 0');
    expect(lab.terminal.output.toString()).not.toContain('\u001b');
  });

  test('Ctrl-C ends the waiting for a silent capsule', async () => {
    await using lab = await startLab({ capsule: { silent: true } });
    await lab.capsule.until('the connection', () => lab.capsule.openConnections === 1);
    lab.terminal.pty.write('\u0003');
    expect(await lab.terminal.report('outcome')).toEqual({ kind: 'hangup', signal: 'SIGINT' });
    await lab.capsule.until('the close', () => lab.capsule.openConnections === 0);
  });

  test('a bad prefix is refused by name', async () => {
    await using lab = await startLab({ env: { PREFIX: 'F1' } });
    expect(await lab.terminal.report('error')).toMatchObject({ code: 'PREFIX_INVALID' });
  });

  test('without a terminal it says so', async () => {
    await using lab = await startLab({ shellFirst: 'exec </dev/null' });
    expect(await lab.terminal.report('error')).toMatchObject({ code: 'ATTACH_NEEDS_TERMINAL' });
  });
});
