import { describe, expect, jest, test } from '@jest/globals';
import { RESET_SEQUENCE, RESTORE_TITLE } from '../../src/attach/sequences.ts';
import { type Lab, startLab, terminalNow } from './support/lab.ts';
import { guardsOf, processIsGone, untilProcessIsGone } from './support/processes.ts';
import { ARMED, ARMED_STATE } from './support/session-noise.ts';

// Real processes, on a machine that may be busy.
jest.setTimeout(90_000);

/** Attached, with everything armed that a full-screen program arms. */
async function armed(options: Parameters<typeof startLab>[0] = {}): Promise<Lab & { pid: number }> {
  const lab = await startLab(options);
  const pid = await lab.terminal.report('pid');
  await lab.terminal.screen('ready');
  lab.capsule.print(`${ARMED}\u001b(B armed`);
  await lab.terminal.screen('armed');
  lab.capsule.print('\u001b(0');
  expect(lab.terminal.emulator.state()).toMatchObject({ ...ARMED_STATE, charset: 'ascii' });
  expect(lab.terminal.settings()).not.toBe(lab.before.settings);
  return { ...lab, pid };
}

const resetSeen = ({ terminal }: Lab): Promise<unknown> =>
  terminal.until('the reset', () => terminal.output.includes(RESET_SEQUENCE + RESTORE_TITLE));

/** The program ended, and the shell has the terminal. */
async function backInShell({ terminal }: Lab, code: number): Promise<void> {
  // In the bytes, not on the screen: the shell of a killed jackin may still find the alternate screen.
  await terminal.until('the shell', () => terminal.output.includes(`left with ${code}`));
  terminal.pty.write('still here\r');
  await terminal.screen('got still here');
}

describe('the terminal is as it was before, and the shell works, after', () => {
  test('a detach', async () => {
    await using lab = await armed();
    lab.terminal.pty.write('\u0002d');
    expect(await lab.terminal.report('outcome')).toEqual({ kind: 'detached' });
    await backInShell(lab, 0);
    expect(terminalNow(lab)).toEqual(lab.before);
    expect(lab.capsule.input).toBe('');
  });

  test('the end of the agent', async () => {
    await using lab = await armed();
    lab.capsule.endSession({ code: 3, signal: null, oom: false });
    expect(await lab.terminal.report('outcome')).toMatchObject({
      kind: 'ended',
      code: 3,
      signal: null,
      oom: false,
    });
    await lab.terminal.screen('what now?');
    expect(lab.terminal.emulator.state()).toEqual(lab.before.state);
    lab.terminal.pty.write('keep\r');
    expect(await lab.terminal.report('answer')).toBe('keep');
    await backInShell(lab, 0);
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test('the loss of the connection', async () => {
    await using lab = await armed();
    lab.capsule.drop();
    expect(await lab.terminal.report('outcome')).toEqual({
      kind: 'lost',
      reason: expect.stringMatching(/./),
    });
    await backInShell(lab, 0);
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s of jackin', async (signal) => {
    await using lab = await armed();
    process.kill(lab.pid, signal);
    expect(await lab.terminal.report('outcome')).toEqual({ kind: 'hangup', signal });
    await backInShell(lab, 0);
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test('an exception nobody caught', async () => {
    await using lab = await armed();
    process.kill(lab.pid, 'SIGUSR1');
    expect(await lab.terminal.report('error')).toMatchObject({ message: 'thrown while attached' });
    await backInShell(lab, 1);
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test('process.exit() somewhere else in the program', async () => {
    await using lab = await armed();
    process.kill(lab.pid, 'SIGUSR2');
    await backInShell(lab, 7);
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test('SIGKILL of jackin', async () => {
    await using lab = await armed();
    process.kill(lab.pid, 'SIGKILL');
    await resetSeen(lab);
    expect(terminalNow(lab)).toEqual(lab.before);
    await backInShell(lab, 137);
  });

  test('SIGKILL of jackin after SIGTERM, SIGHUP and SIGINT of its guard and its process group', async () => {
    await using lab = await armed({ jobControl: true });
    const [guard] = guardsOf(lab.pid);
    if (guard === undefined) throw new Error('no guard');
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT']) process.kill(guard, signal);
    process.kill(-lab.pid, 'SIGKILL');
    await resetSeen(lab);
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test('a refusal of the capsule', async () => {
    await using lab = await startLab({
      capsule: { refuse: { code: 'SESSION_NOT_FOUND', message: 'no such session' } },
    });
    expect(await lab.terminal.report('error')).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await backInShell(lab, 1);
    expect(terminalNow(lab)).toEqual(lab.before);
  });
});

describe('the guard', () => {
  test('is one process in a session of its own while attached, and gone when attach is over', async () => {
    await using lab = await armed();
    const guards = guardsOf(lab.pid);
    expect(guards).toHaveLength(1);
    lab.terminal.pty.write('\u0002d');
    await lab.terminal.report('outcome');
    expect(guards.filter((pid) => !processIsGone(pid))).toEqual([]);
  });

  test('ends after it restored the terminal', async () => {
    await using lab = await armed();
    const [guard = 0] = guardsOf(lab.pid);
    process.kill(lab.pid, 'SIGKILL');
    await resetSeen(lab);
    await untilProcessIsGone(guard);
  });

  test('writes nothing after an end in good order: the reset appears once', async () => {
    await using lab = await armed();
    process.kill(lab.pid, 'SIGUSR2');
    await backInShell(lab, 7);
    expect(lab.terminal.output.toString('latin1').split(RESTORE_TITLE)).toHaveLength(2);
  });

  test('that was killed does not disturb attach, which restores by itself', async () => {
    await using lab = await armed();
    const [guard = 0] = guardsOf(lab.pid);
    process.kill(guard, 'SIGKILL');
    lab.terminal.pty.write('x\u0002d');
    expect(await lab.terminal.report('outcome')).toEqual({ kind: 'detached' });
    await backInShell(lab, 0);
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test('that cannot start is told, and attach works without it', async () => {
    await using lab = await startLab({ env: { NO_STTY: '1' } });
    expect(await lab.terminal.report('event')).toMatchObject({
      type: 'notice',
      code: 'ATTACH_WITHOUT_GUARD',
    });
    await lab.terminal.screen('ready');
    expect(guardsOf(await lab.terminal.report('pid'))).toEqual([]);
    lab.terminal.pty.write('\u0002d');
    await backInShell(lab, 0);
    expect(terminalNow(lab)).toEqual(lab.before);
  });

  test('leaves settings alone that a shell changed before it came', async () => {
    await using lab = await armed();
    process.kill(lab.pid, 'SIGSTOP');
    lab.terminal.stty('-echo', 'icanon');
    const changed = lab.terminal.settings();
    process.kill(lab.pid, 'SIGKILL');
    await resetSeen(lab);
    await lab.terminal.until('the shell', () => lab.terminal.output.includes('left with 137'));
    expect(lab.terminal.settings()).toBe(changed);
    expect(lab.terminal.emulator.state()).toEqual(lab.before.state);
  });
});
