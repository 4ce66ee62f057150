import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MAX_REPAINT_BYTES } from '../src/terminal/repaint.ts';
import { noise } from './fixtures/noise.ts';
import { type CapsuleProcess, plan, startCapsule } from './support/capsule-process.ts';
import { createEmulator, differences, feed, screenOf } from './support/emulator.ts';
import { fixture } from './support/programs.ts';
import { watch } from './support/watch.ts';

let capsule: CapsuleProcess;
afterEach(() => capsule.dispose());

const SIZE = { sessionId: null, cols: 80, rows: 24 };

describe('a session', () => {
  test('has the right size at its first output, takes input and shows it to everybody', async () => {
    capsule = await startCapsule();
    const first = await capsule.connect();
    const session = plan('stty size; read line; echo "got $line"; read line', { cols: 132, rows: 50 });
    expect(await first.startSession(session)).toMatchObject({ alive: true, cols: 132, rows: 50, clients: 0 });
    const second = await capsule.connect();
    const [one, two] = [watch(first, 132, 50), watch(second, 132, 50)];
    const size = { sessionId: null, cols: 132, rows: 50 };
    expect(await first.attach(size)).toMatchObject({ session_id: session.session_id, clients: 1 });
    expect(await second.attach(size)).toMatchObject({ session_id: session.session_id, clients: 2 });
    await one.screen('50 132');
    await two.screen('50 132');
    second.write(Buffer.from('hällo\r'));
    await one.screen('got hällo');
    await two.screen('got hällo');
  });

  test('knows its instance and itself, and no terminal it does not run in', async () => {
    capsule = await startCapsule({ env: { TMUX: 'outer', COLUMNS: '3', KEPT: 'yes' } });
    const client = await capsule.connect();
    const view = watch(client);
    const script =
      'echo "[$JACKIN_INSTANCE/$JACKIN_SESSION/$TERM/$TMUX/$COLUMNS/$KEPT/$SECRET]"; umask; pwd; read x';
    const session = plan(script, { session_id: 'my-session', env: { SECRET: 's3cret' }, cwd: '/usr' });
    await client.startSession(session);
    await client.attach(SIZE);
    await view.screen(`[${capsule.instanceId}/my-session/xterm-256color///yes/s3cret]`);
    const mask = process.umask().toString(8).padStart(4, '0');
    await view.screen(new RegExp(`\\n${mask}\\n/usr`));
    expect(readFileSync(`/proc/${capsule.child.pid}/cmdline`, 'utf8')).not.toContain('s3cret');
  });

  test('is as large as its smallest client, and grows back when that one leaves', async () => {
    capsule = await startCapsule();
    const [large, small] = [await capsule.connect(), await capsule.connect()];
    const [wide, narrow] = [watch(large, 120, 40), watch(small, 100, 30)];
    await large.startSession(
      plan('trap "stty size" WINCH; while :; do read x; done', { cols: 120, rows: 40 }),
    );
    await large.attach({ sessionId: null, cols: 120, rows: 40 });
    expect(await small.attach({ sessionId: null, cols: 100, rows: 30 })).toMatchObject({
      cols: 100,
      rows: 30,
    });
    expect(await narrow.message('repaint')).toMatchObject({ cols: 100, rows: 30 });
    expect(await wide.message('resized')).toMatchObject({ cols: 100, rows: 30 });
    await wide.screen('30 100');
    small.resize(110, 20);
    await wide.screen('20 110');
    small.close();
    await wide.screen('40 120');
  });

  test('asks the capsule what it asks its terminal; clients see nothing of it', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    const answers: string[] = [];
    view.terminal.onData((data) => answers.push(data));
    const ask =
      'stty raw -echo; printf "\\033[3;5H\\033[6n"; dd bs=1 count=6 2>/dev/null | od -An -c; echo end; read x';
    await client.attach(SIZE);
    await client.startSession(plan(ask));
    await view.screen(/033\s+\[\s+3\s+;\s+5\s+R[\s\S]*end/);
    expect(answers).toEqual([]);
    expect(view.bytes()).not.toContain('\u001b[6n');
  });

  test('that is chosen by nobody is the newest living one, else the newest', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    const [older, newer] = [plan('read x'), plan('read x')];
    await client.startSession(older);
    await client.startSession(newer);
    expect((await client.list()).map(({ session_id }) => session_id)).toEqual([
      older.session_id,
      newer.session_id,
    ]);
    expect((await client.attach(SIZE)).session_id).toBe(newer.session_id);
    await client.endSession(newer.session_id, 2000);
    expect((await client.attach(SIZE)).session_id).toBe(older.session_id);
    await client.endSession(older.session_id, 2000);
    expect((await client.attach(SIZE)).session_id).toBe(newer.session_id);
    await expect(client.attach({ ...SIZE, sessionId: 'nobody' })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect(view.messages.filter(({ type }) => type === 'repaint')).toHaveLength(3);
  });

  test('paints what it lost nothing of: output races with every attach', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const count = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "line $i"; done; read x';
    await client.startSession(plan(count));
    const late = await Promise.all(Array.from({ length: 8 }, () => capsule.connect()));
    const views = late.map((one) => watch(one));
    for (const one of late) await one.attach(SIZE);
    await client.attach(SIZE);
    for (const view of views) {
      await view.screen('line 3000');
      const { normal } = view.terminal.buffer;
      const lines = Array.from(
        { length: normal.length },
        (_, y) => normal.getLine(y)?.translateToString(true) ?? '',
      );
      const numbers = lines.filter((line) => line.startsWith('line ')).map((line) => Number(line.slice(5)));
      expect(numbers).toEqual(numbers.map((_, index) => 3000 - numbers.length + 1 + index));
      expect(numbers.length).toBeGreaterThan(1900);
    }
  });

  test('waits with its output for the model, and the last of it is not lost', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan('head -c 6000000 /dev/zero | tr "\\0" x; printf "\\r\\nthe last words"'));
    await view.message('session_ended');
    await view.screen('the last words');
    expect((await client.snapshot(null, 1)).lines).toEqual(['the last words']);
  }, 60_000);

  test('that does not read its input holds up its writer only, and gets all of it in the end', async () => {
    capsule = await startCapsule();
    const [writer, other] = [await capsule.connect(), await capsule.connect()];
    const view = watch(other);
    const script =
      'stty raw -echo; echo ready; while [ ! -e go ]; do sleep 0.05; done; head -c 3000000 | md5sum; read x';
    await other.startSession(plan(script, { cwd: capsule.dir }));
    await other.attach(SIZE);
    await writer.attach(SIZE);
    await view.screen('ready');
    const pasted = Buffer.alloc(3_000_000, 'pasted text ');
    writer.write(pasted);
    await other.ping();
    expect((await other.list())[0]).toMatchObject({ alive: true, clients: 2 });
    await other.startSession(plan('touch go', { cwd: capsule.dir }));
    await view.screen(createHash('md5').update(pasted).digest('hex'));
  }, 60_000);
});

describe('a repaint', () => {
  test('after 50 MB with full-screen programs and titles is bounded and shows what an emulator that saw all shows', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    const bytes = 50 * 1024 * 1024;
    await client.startSession(fixture('noise-program', [String(bytes)]));
    const truth = createEmulator(80, 24);
    for (const block of noise(bytes)) await feed(truth, block);
    let title = '';
    while (title !== 'the end') ({ title } = await client.snapshot(null, 1));
    await client.attach(SIZE);
    const { bytes: announced } = await view.message('repaint');
    await view.screen('4711 row 23');
    expect(view.bytes().length).toBe(announced);
    expect(announced).toBeLessThan(MAX_REPAINT_BYTES / 4);
    expect(differences(view.terminal, truth)).toEqual([]);
  }, 240_000);

  test('comes when a client that had stopped reading reads again, and nobody waited for it', async () => {
    capsule = await startCapsule();
    const slow = await capsule.connect();
    const fast = await capsule.connect();
    const [slowView, fastView] = [watch(slow), watch(fast)];
    await slow.attach(SIZE);
    await fast.attach(SIZE);
    // From here on it reads nothing but what is on its way.
    const gate = Promise.withResolvers<void>();
    slow.onTerminal(() => gate.promise);
    await fast.startSession(fixture('noise-program', [String(12 * 1024 * 1024)]));
    await fastView.screen('4711 row 23');
    fast.write(Buffer.from('x'));
    await fastView.screen('typed x');
    // All of it went by while the slow one took nothing.
    expect(slowView.bytes().length).toBeLessThan(256 * 1024);
    expect((await fast.list())[0]).toMatchObject({ clients: 2 });
    gate.resolve();
    await slowView.screen('typed x');
    expect(slowView.bytes().length).toBeLessThan(4 * 1024 * 1024);
    expect(slowView.messages.filter(({ type }) => type === 'repaint').length).toBeGreaterThan(2);
    expect(differences(slowView.terminal, fastView.terminal, { usedBefore: true })).toEqual([]);
    fast.write(Buffer.from('y'));
    await slowView.screen('typed y');
  }, 120_000);

  test('of a session that ended shows its last screen to whoever comes later', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const hold = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan('printf "\\033[?1049h\\033[?1003h\\033[3;3Hlast screen"; kill -9 $$'));
    await hold.message('session_ended');
    const later = await capsule.connect();
    const view = watch(later);
    expect(await later.attach(SIZE)).toMatchObject({
      alive: false,
      ended: { code: null, signal: 'SIGKILL' },
    });
    await view.screen('last screen');
    expect(view.terminal.modes.mouseTrackingMode).toBe('none');
    expect(view.terminal.buffer.active.type).toBe('normal');
    expect(screenOf(view.terminal)[2]).toBe('  last screen');
  });
});
