import { duplexPair, PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { withoutMounts } from '../../src/docker/changes.ts';
import { createFrameReader } from '../../src/docker/frames.ts';
import { watchOutput } from '../../src/docker/output-watch.ts';
import { proxyStream } from '../../src/docker/transport.ts';

const STREAM = { stdout: 1, stderr: 2 } as const;

function frame(stream: keyof typeof STREAM, bytes: string | Buffer): Buffer {
  const payload = Buffer.from(bytes);
  const header = Buffer.alloc(8);
  header[0] = STREAM[stream];
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

describe("the engine's framing", () => {
  it('is read the same however it is cut', () => {
    const parts = fc.array(fc.tuple(fc.constantFrom('stdout' as const, 'stderr' as const), fc.string()));
    fc.assert(
      fc.property(parts, fc.infiniteStream(fc.integer({ min: 1, max: 20 })), (sent, sizes) => {
        const bytes = Buffer.concat(sent.map(([stream, words]) => frame(stream, words)));
        const got = { stdout: '', stderr: '' };
        const read = createFrameReader(
          (stream, part) => {
            got[stream] += part.toString('latin1');
          },
          (reason) => expect(reason).toBe(''),
        );
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value as number;
          read(bytes.subarray(at, at + size));
          at += size;
        }
        for (const stream of ['stdout', 'stderr'] as const) {
          const words = sent.filter(([one]) => one === stream).map(([, part]) => part);
          expect(got[stream]).toBe(Buffer.from(words.join('')).toString('latin1'));
        }
      }),
    );
  });

  it('says once when it is something else, and takes nothing more', () => {
    const reasons: string[] = [];
    const taken: string[] = [];
    const read = createFrameReader(
      (_, bytes) => void taken.push(bytes.toString()),
      (reason) => void reasons.push(reason),
    );
    read(Buffer.from('Error: no such thing at all'));
    read(frame('stdout', 'late'));
    expect(reasons).toHaveLength(1);
    expect(taken).toEqual([]);
  });
});

describe('waiting for a line of the output', () => {
  const signal = new AbortController().signal;

  it('sees it as a whole line only', async () => {
    const output = new PassThrough();
    const watch = watchOutput(output, 'ready');
    output.write(frame('stderr', 'not ready\nread'));
    output.write(frame('stderr', 'y\n'));
    expect(await watch.outcome(10_000, signal)).toEqual({ state: 'seen' });
    expect(watch.tail()).toBe('not ready\nready\n');
  });

  it('tells an end from silence', async () => {
    const ended = new PassThrough();
    const watch = watchOutput(ended, 'ready');
    ended.end(frame('stdout', 'last words'));
    expect(await watch.outcome(10_000, signal)).toEqual({ state: 'ended' });
    expect(watch.tail()).toBe('last words');
    expect(await watchOutput(new PassThrough(), 'ready').outcome(10, signal)).toEqual({ state: 'silent' });
  });

  it('keeps only the end of what was said', async () => {
    const output = new PassThrough();
    const watch = watchOutput(output, null);
    output.end(frame('stderr', `${'x'.repeat(100_000)}end`));
    await watch.outcome(10_000, signal);
    expect(watch.tail()).toHaveLength(4_096);
    expect(watch.tail()).toMatch(/xend$/);
  });

  it('ends with the reason of the signal', async () => {
    const reason = new Error('enough');
    const watch = watchOutput(new PassThrough(), 'ready');
    await expect(watch.outcome(10_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('the stream of a proxy', () => {
  it('is connected when the proxy says so, and carries its stdout', async () => {
    const [ours, engine] = duplexPair();
    const { duplex, connected } = proxyStream(ours);
    engine.write(frame('stdout', 'early '));
    engine.write(frame('stderr', 'jackin capsule connected\n'));
    await connected;
    engine.end(frame('stdout', 'late'));
    expect(await text(duplex)).toBe('early late');
  });

  it('carries what is written, and its end', async () => {
    const [ours, engine] = duplexPair();
    const { duplex } = proxyStream(ours);
    duplex.write('a'.repeat(200_000));
    duplex.end('b');
    expect((await text(engine)).length).toBe(200_001);
  });

  it('fails with the words of a proxy that ends first', async () => {
    const [ours, engine] = duplexPair();
    const { connected } = proxyStream(ours);
    engine.end(frame('stderr', 'capsule: CAPSULE_UNREACHABLE: nobody\n'));
    await expect(connected).rejects.toThrow('CAPSULE_UNREACHABLE: nobody');
  });

  it('holds the engine back while nobody reads', async () => {
    const [ours, engine] = duplexPair();
    const { duplex } = proxyStream(ours);
    let sent = 0;
    while (engine.write(frame('stdout', 'x'.repeat(10_000)))) {
      sent += 1;
      await new Promise(setImmediate);
      if (sent > 1_000) break;
    }
    expect(sent).toBeLessThan(100);
    engine.end();
    expect((await text(duplex)).length).toBe((sent + 1) * 10_000);
  });

  it('breaks on what is no framing', async () => {
    const [ours, engine] = duplexPair();
    const { duplex } = proxyStream(ours);
    engine.write('HTTP/1.1 500 no');
    await expect(text(duplex)).rejects.toThrow('framing');
  });
});

describe('what changed in the layer', () => {
  it('is what nobody but the session made', () => {
    const engineMade = [
      ...['/home', '/home/agent', '/jackin', '/jackin/run', '/jackin/runtime', '/run', '/run/lock', '/etc'],
      ...['/usr', '/usr/sbin', '/usr/sbin/docker-init', '/srv', '/srv/proj'],
    ];
    expect(withoutMounts(engineMade, ['/srv/proj', '/home/agent'])).toEqual([]);
    const theirs = [
      '/opt',
      '/opt/tool',
      '/srv/other',
      '/usr/sbin/tool',
      '/etc/passwd',
      '/home/else',
      '/runner',
    ];
    expect(withoutMounts([...engineMade, ...theirs], ['/srv/proj'])).toEqual(theirs);
  });
});
