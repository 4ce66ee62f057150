import { describe, expect, test } from '@jest/globals';
import { openPty, type Pty, type PtyExit } from '../src/terminal/pty.ts';

interface Run {
  pty: Pty;
  output(): string;
  exit: Promise<PtyExit>;
  end: Promise<void>;
  writable: Promise<void>;
}

function run(script: string, onOutput: (text: string, pty: Pty) => void = () => {}): Run {
  const exit = Promise.withResolvers<PtyExit>();
  const end = Promise.withResolvers<void>();
  const writable = Promise.withResolvers<void>();
  let output = '';
  const pty: Pty = openPty({
    file: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm' },
    cols: 100,
    rows: 30,
    onOutput(bytes) {
      output += bytes.toString('latin1');
      onOutput(output, pty);
    },
    onExit: exit.resolve,
    onEnd: end.resolve,
    onWritable: writable.resolve,
  });
  return { pty, output: () => output, exit: exit.promise, end: end.promise, writable: writable.promise };
}

describe('a pseudo-terminal', () => {
  test('has its size at once, and the program leads its session', async () => {
    const { pty, output, end } = run('stty size; ps -o sid= -p $$; tty');
    await end;
    const [size, sid, tty] = output().trim().split(/\r\n/);
    expect(size).toBe('30 100');
    expect(Number(sid)).toBe(pty.pid);
    expect(tty).toMatch(/^\/dev\//);
  });

  test.each([
    ['a code', 'exit 3', { code: 3, signal: null }],
    ['a signal', 'kill -15 $$', { code: null, signal: 'SIGTERM' }],
  ])('tells %s', async (_, script, expected) => {
    const { exit, end } = run(script);
    expect(await exit).toEqual(expected);
    await end;
  });

  test('loses nothing of a program that ended while nobody read', async () => {
    const { pty, output, exit, end } = run('printf "%03000d" 7; printf "\\nthe last words"');
    pty.pause();
    await exit;
    expect(output()).toBe('');
    pty.close();
    await end;
    expect(output()).toHaveLength(3000 + 2 + 14);
    expect(output()).toMatch(/the last words$/);
  });

  test('stops the program while nobody reads, and lets it go on', async () => {
    const { pty, output, exit } = run('head -c 1000000 /dev/zero | tr "\\0" x');
    pty.pause();
    expect(await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])).toBe(
      'waits',
    );
    pty.resume();
    await exit;
    expect(output().length).toBeGreaterThan(900_000);
  });

  test('is closed although somebody else still holds it', async () => {
    const { pty, output, exit, end } = run('(trap "" HUP; exec sleep 5) & echo started');
    await exit;
    pty.close();
    await end;
    expect(output()).toContain('started');
  });

  test('does not block on a program that does not read, and delivers all of it later', async () => {
    const script = 'stty raw -echo; echo ready; read go < /dev/null; sleep 0.3; head -c 500000 | cksum';
    let accepted: boolean | undefined;
    const { output, end, writable } = run(script, (text, pty) => {
      if (accepted === undefined && text.includes('ready')) accepted = pty.write(Buffer.alloc(500_000, 'z'));
    });
    await writable;
    expect(accepted).toBe(false);
    await end;
    expect(output()).toMatch(/\d+ 500000/);
  });

  test('takes input and sizes after its end without a word', async () => {
    const { pty, end } = run('exit 0');
    await end;
    expect(pty.write(Buffer.from('late'))).toBe(true);
    pty.resize(10, 10);
    pty.resume();
    pty.close();
  });
});
