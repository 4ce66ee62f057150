import { Readable } from 'node:stream';
import { registerSecret } from '@jackin/core';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { followBuild } from '../../../src/docker/images/build-progress.ts';
import { decodeBuildkitTrace } from '../../../src/docker/images/buildkit-trace.ts';
import { jsonLines } from '../../../src/docker/images/json-lines.ts';

/** A protobuf message of the fields given: numbers, texts, and messages. */
function message(fields: [number, number | string | Buffer][]): Buffer {
  const number = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) | 128, ...number(Math.floor(value / 128))];
  return Buffer.concat(
    fields.map(([field, value]) => {
      if (typeof value === 'number') return Buffer.from([...number(field * 8), ...number(value)]);
      const bytes = Buffer.from(value as string);
      return Buffer.concat([Buffer.from([...number(field * 8 + 2), ...number(bytes.length)]), bytes]);
    }),
  );
}
const time = message([
  [1, 1_700_000_000],
  [2, 5],
]);
const vertex = (name: string, more: [number, number | string | Buffer][]) =>
  message([[1, `sha256:${name}`], [2, 'sha256:input'], [3, name], ...more]);
const trace = (fields: [number, number | string | Buffer][]) => ({
  id: 'moby.buildkit.trace',
  aux: message(fields).toString('base64'),
});

async function read(chunks: Buffer[]): Promise<Record<string, unknown>[]> {
  const found = [];
  for await (const value of jsonLines(Readable.from(chunks))) found.push(value);
  return found;
}

describe('the lines of a progress stream', () => {
  it('are the same however they arrive', async () => {
    const value = fc.record({ stream: fc.string(), more: fc.string({ unit: 'grapheme' }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 6 }),
        fc.array(fc.nat(40)),
        fc.boolean(),
        async (values, cuts, ended) => {
          const bytes = Buffer.from(
            values.map((one) => JSON.stringify(one)).join('\r\n') + (ended ? '\n' : ''),
          );
          const chunks: Buffer[] = [];
          let at = 0;
          for (const cut of cuts) {
            chunks.push(bytes.subarray(at, at + cut));
            at += cut;
          }
          expect(await read([...chunks, bytes.subarray(at)])).toEqual(values);
        },
      ),
    );
  });

  it('leave out what is no object, and what is too long to be kept', async () => {
    const long = Buffer.from(JSON.stringify({ stream: 'x'.repeat(5_000_000) }));
    expect(await read([Buffer.from('nonsense\n7\nnull\n{"a":1}\n'), long, Buffer.from('\n{"b":2}')])).toEqual(
      [{ a: 1 }, { b: 2 }],
    );
  });
});

describe('the progress of a build', () => {
  const follow = (values: Record<string, unknown>[]) => {
    const steps: string[] = [];
    const lines: string[] = [];
    const progress = followBuild(
      (step) => steps.push(step),
      (line) => lines.push(line),
    );
    for (const value of values) progress.take(value);
    return { progress, steps, lines };
  };
  const stream = (text: string) => ({ stream: text });

  it('is told by step and line, of the classic builder', () => {
    const { progress, steps, lines } = follow([
      stream('Step 1/3 : FROM a'),
      stream('\n'),
      stream(' ---> 111111111111\n'),
      stream('Step 2/3 : RUN one'),
      stream('\n'),
      stream(' ---> Using cache\n'),
      stream(' ---> 222222222222\n'),
      stream('Step 3/3 : RUN two'),
      stream('\n'),
      stream(' ---> Running in 999999999999\n'),
      stream('first\r\u001b[31msecond\u001b[0m\nhalf '),
      stream('a line\n'),
      stream('Removing intermediate container 999999999999\n'),
      stream(' ---> 333333333333\n'),
      { aux: { ID: 'sha256:3333' } },
    ]);
    expect(steps).toEqual(['Step 1/3 : FROM a', 'Step 2/3 : RUN one', 'Step 3/3 : RUN two']);
    expect(lines).toEqual(['first', 'second', 'half a line']);
    expect(progress.made).toEqual(['333333333333']);
    expect(progress).toMatchObject({ imageId: 'sha256:3333', failure: null });
  });

  it('names the step that failed, its exit code, and the end of what it said', () => {
    const { progress } = follow([
      stream('Step 1/2 : FROM a\n'),
      stream('Step 2/2 : RUN make\n'),
      ...Array.from({ length: 30 }, (_, i) => stream(`line ${i}\n`)),
      stream('without an end'),
      {
        errorDetail: { code: 7, message: 'returned a non-zero code: 7' },
        error: 'returned a non-zero code: 7',
      },
    ]);
    expect(progress.failure).toEqual({
      message: 'returned a non-zero code: 7',
      exit_code: 7,
      step: 'Step 2/2 : RUN make',
    });
    expect(progress.tail).toHaveLength(20);
    expect(progress.tail.slice(-2)).toEqual(['line 29', 'without an end']);
  });

  it('is the same of BuildKit', () => {
    const { progress, steps, lines } = follow([
      trace([[1, vertex('[internal] load build context', [[5, time]])]]),
      trace([
        [
          1,
          vertex('[1/2] FROM a', [
            [4, 1],
            [5, time],
            [6, time],
          ]),
        ],
      ]),
      trace([[1, vertex('[2/2] RUN make', [[5, time]])]]),
      trace([[1, vertex('[2/2] RUN make', [[5, time]])]]),
      trace([
        [
          3,
          message([
            [1, 'sha256:x'],
            [2, time],
            [3, 1],
            [4, 'half '],
          ]),
        ],
        [3, message([[4, 'a line\n']])],
      ]),
      trace([
        [
          1,
          vertex('[other] RUN x', [
            [6, time],
            [7, 'context canceled'],
          ]),
        ],
        [
          1,
          vertex('[2/2] RUN make', [
            [6, time],
            [7, 'executor failed'],
          ]),
        ],
      ]),
      { errorDetail: { message: 'executor failed running [make]: exit code: 4' }, error: 'x' },
    ]);
    expect(steps).toEqual(['[1/2] FROM a', '[2/2] RUN make']);
    expect(lines).toEqual(['half a line']);
    expect(progress.failure).toEqual({
      message: 'executor failed running [make]: exit code: 4',
      exit_code: 4,
      step: '[2/2] RUN make',
    });
  });

  it('shows no secret and no endless line', () => {
    registerSecret('hunter22');
    const { lines } = follow([stream(`pass hunter22 ${'x'.repeat(10_000)}\n`)]);
    expect(lines[0]).toMatch(/^pass \[redacted\] x+$/);
    expect(lines[0]?.length).toBe(500);
  });

  it('says nothing when it cannot be decoded', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(typeof decodeBuildkitTrace(Buffer.from(bytes).toString('base64')).output).toBe('string');
      }),
    );
  });
});
