import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runProcess } from '../src/index.ts';
import { onCleanup, procState, scratchDir } from './helpers.ts';

const sh = (script: string, options: Partial<Parameters<typeof runProcess>[2]> = {}) =>
  runProcess('sh', ['-c', script], { timeoutMs: 20_000, ...options });

/** A socket that tells, by its closing, that every process which inherited it is gone. */
async function lifeline() {
  const path = join(scratchDir(), 's');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onCleanup(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const connected = once(server, 'connection') as Promise<[Socket]>;
  return { path, connected };
}

describe('runProcess', () => {
  test('output comes back as bytes, untouched, with the exit code', async () => {
    const result = await sh(String.raw`printf 'a\377\000\n'; printf 'err\n' >&2; exit 3`);
    expect(result).toEqual({
      stdout: Buffer.from([0x61, 0xff, 0x00, 0x0a]),
      stderr: Buffer.from('err\n'),
      exitCode: 3,
      signal: null,
      timedOut: false,
      notFound: false,
      truncated: false,
      failure: null,
    });
  });

  test('arguments are passed as they are, never through a shell', async () => {
    const hostile = ['$(touch x)', '; rm -rf /', '"', "'", '*', '', 'a b', '\n'];
    const result = await runProcess('printf', ['%s\\0', ...hostile], { timeoutMs: 10_000 });
    expect(result.stdout.toString().split('\0').slice(0, -1)).toEqual(hostile);
  });

  test('input reaches the child, and without input its standard input is empty instead of ours', async () => {
    const input = Buffer.from([1, 2, 0, 255]);
    expect((await runProcess('cat', [], { timeoutMs: 10_000, input })).stdout).toEqual(input);
    expect((await runProcess('cat', [], { timeoutMs: 10_000 })).stdout).toEqual(Buffer.alloc(0));
  });

  test('a child that does not read its input is no error', async () => {
    const result = await runProcess('true', [], { timeoutMs: 10_000, input: Buffer.alloc(1_000_000) });
    expect(result.exitCode).toBe(0);
  });

  test('without the environment of this process a child has the given variables and no others', async () => {
    const result = await sh('printf "%s|%s" "$ADDED" "$HOME"', {
      env: { ADDED: 'x', PATH: process.env.PATH ?? '' },
      inheritEnv: false,
    });
    expect(String(result.stdout)).toBe('x|');
  });

  test('variables are added to the environment, and the directory is the asked one', async () => {
    const cwd = scratchDir();
    const result = await sh('printf "%s|%s|" "$ADDED" "$PWD"; command -v sh', {
      cwd,
      env: { ADDED: 'x y' },
    });
    const [added, directory, program] = String(result.stdout).split('|');
    expect([added, directory]).toEqual(['x y', cwd]);
    // PATH was not replaced.
    expect(program).toContain('/sh');
  });

  test('a program that does not exist, a directory that does not, and one that is not executable differ', async () => {
    const missing = await runProcess('no-such-program-jackin', [], { timeoutMs: 5_000 });
    expect(missing).toMatchObject({ notFound: true, exitCode: null, signal: null });
    expect(missing.failure).toContain('no-such-program-jackin');
    const noDirectory = await runProcess('true', [], { timeoutMs: 5_000, cwd: '/no/such/dir' });
    expect(noDirectory).toMatchObject({ notFound: false, exitCode: null });
    expect(noDirectory.failure).toContain('/no/such/dir');
    const noProgram = await runProcess('/etc/passwd', [], { timeoutMs: 5_000 });
    expect(noProgram).toMatchObject({ notFound: false, exitCode: null });
    expect(noProgram.failure).toContain('EACCES');
  });

  test('an argument no program can be given is a failure that does not quote it', async () => {
    const result = await runProcess('true', ['secret\0tail'], { timeoutMs: 5_000 });
    expect(result).toMatchObject({ exitCode: null, failure: 'invalid arguments' });
  });

  test('a child ended by a signal reports the signal', async () => {
    expect(await sh('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: false });
  });

  test('output beyond the bound is cut at the bound and the child is ended', async () => {
    const result = await runProcess('yes', [], { timeoutMs: 20_000, maxOutputBytes: 1_001 });
    expect(result).toMatchObject({ truncated: true, timedOut: false });
    expect(result.stdout).toEqual(Buffer.from('y\n'.repeat(501)).subarray(0, 1_001));
    const exact = await sh('printf 12345', { maxOutputBytes: 5 });
    expect(exact).toMatchObject({ truncated: false, exitCode: 0 });
    const errors = await sh('while :; do echo e >&2; done', { maxOutputBytes: 100 });
    expect(errors).toMatchObject({ truncated: true });
    expect(errors.stderr).toHaveLength(100);
  });

  test('a timeout ends the child and keeps what it had written', async () => {
    const result = await sh('echo before; exec sleep 600', { timeoutMs: 300 });
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGTERM', exitCode: null });
    expect(String(result.stdout)).toBe('before\n');
  });

  test('a child that ended while we were stopped ended in time', async () => {
    const result = runProcess('sh', ['-c', 'sleep 0.2; echo done'], { timeoutMs: 500 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    expect(await result).toMatchObject({ timedOut: false, exitCode: 0, stdout: Buffer.from('done\n') });
  });

  test('a timeout ends a child that ignores SIGTERM, and its children that do', async () => {
    const { path, connected } = await lifeline();
    const grandchild = `trap '' TERM; exec ${process.execPath} -e 'require("net").connect(process.argv[1]); process.on("SIGTERM", () => {})' ${path}`;
    const result = sh(`sh -c "$GRANDCHILD" >/dev/null 2>&1 & trap '' TERM; while :; do sleep 1; done`, {
      timeoutMs: 3_000,
      env: { GRANDCHILD: grandchild },
    });
    const [socket] = await connected;
    const gone = once(socket.resume(), 'close');
    expect(await result).toMatchObject({ timedOut: true, signal: 'SIGKILL' });
    await gone;
  });

  test('a leader that ends on SIGTERM does not leave behind a child that ignores it', async () => {
    const { path, connected } = await lifeline();
    const grandchild = `process.on("SIGTERM", () => {}); require("net").connect(${JSON.stringify(path)})`;
    const result = sh(`${process.execPath} -e "$GRANDCHILD" >/dev/null 2>&1 & exec sleep 600`, {
      timeoutMs: 3_000,
      env: { GRANDCHILD: grandchild },
    });
    const [socket] = await connected;
    const gone = once(socket.resume(), 'close');
    expect(await result).toMatchObject({ timedOut: true, signal: 'SIGTERM' });
    await gone;
  });

  test('a descendant in a session of its own that holds the pipes does not keep the call waiting', async () => {
    const daemon = `const {spawn} = require("node:child_process");
      const child = spawn("sleep", ["600"], { detached: true, stdio: "inherit" });
      console.log(child.pid); child.unref();`;
    const result = await runProcess(process.execPath, ['-e', daemon], { timeoutMs: 20_000 });
    const escaped = Number(result.stdout);
    onCleanup(() => void process.kill(escaped, 'SIGKILL'));
    expect(result).toMatchObject({ exitCode: 0, timedOut: false });
    expect(procState(escaped)).not.toBeNull();
  });

  test('an abort ends the child, before its start as well as in the middle', async () => {
    const early = await sh('sleep 600', { signal: AbortSignal.abort() });
    expect(early).toMatchObject({ exitCode: null, timedOut: false });
    const controller = new AbortController();
    const { path, connected } = await lifeline();
    const running = runProcess(process.execPath, ['-e', 'require("net").connect(process.argv[1])', path], {
      timeoutMs: 60_000,
      signal: controller.signal,
    });
    await connected;
    controller.abort();
    expect(await running).toMatchObject({ signal: 'SIGTERM', timedOut: false });
  });
});
