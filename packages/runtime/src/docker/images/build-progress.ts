import { stripVTControlCharacters } from 'node:util';
import { redact } from '@jackin/core';
import { decodeBuildkitTrace } from './buildkit-trace.ts';
import { OWN_STEP, OWN_STEP_NAME } from './derive.ts';
import { streamError } from './json-lines.ts';

const TAIL_LINES = 20;
const MAX_LINE_CHARS = 500;

export interface BuildProgress {
  /** Reads one object of the builder's stream. */
  take(value: Record<string, unknown>): void;
  /** The builder's own error, once it gave one. */
  readonly failure: { message: string; exit_code: number | null; step: string | null } | null;
  /** `sha256:…` of the image, once the builder named it. */
  readonly imageId: string | null;
  /** The last lines of output. */
  readonly tail: readonly string[];
  /** Images without a name that this build made on its way, in order (the classic builder's). */
  readonly made: readonly string[];
}

/**
 * Follows one build, of either builder. `onStep` is called once per step of the Dockerfile, `onLine` per line of
 * output; both are bounded in length and redacted.
 */
export function followBuild(onStep: (step: string) => void, onLine: (line: string) => void): BuildProgress {
  let failure: BuildProgress['failure'] = null;
  let imageId: string | null = null;
  let step: string | null = null;
  let cached = false;
  let rest = '';
  const tail: string[] = [];
  const made: string[] = [];
  const told = new Set<string>();

  const begin = (name: string) => {
    step = stepName(name);
    cached = false;
    onStep(step);
  };
  const line = (raw: string) => {
    const text = printable(raw);
    if (text === '') return;
    if (/^Step \d+\/\d+ : /.test(text)) return begin(text);
    if (/^ ---> Using cache$/.test(text)) cached = true;
    const image = /^ ---> ([0-9a-f]{12})$/.exec(text)?.[1];
    if (image !== undefined && !cached && !/^Step \S+ : FROM /i.test(step ?? '')) made.push(image);
    // Its own bookkeeping explains nothing to whoever reads the end of the log.
    if (/^( --->|Removing intermediate container )/.test(text)) return;
    tail.push(text);
    if (tail.length > TAIL_LINES) tail.shift();
    onLine(text);
  };
  const output = (text: string) => {
    const lines = (rest + text).split(/[\r\n]/);
    rest = (lines.pop() ?? '').slice(-4 * MAX_LINE_CHARS);
    for (const each of lines) line(each);
  };
  const flush = () => {
    const last = rest;
    rest = '';
    line(last);
  };

  const trace = (aux: string) => {
    const { steps, output: text } = decodeBuildkitTrace(aux);
    for (const { id, name, state } of steps) {
      if (state === 'failed') step = stepName(name);
      else if (!name.startsWith('[internal]') && !told.has(id)) {
        told.add(id);
        begin(name);
      }
    }
    output(text);
  };

  return {
    take(value) {
      const error = streamError(value);
      if (error !== null) {
        flush();
        const message = printable(error.message, 2_000);
        const exitCode = error.code ?? Number(/exit code: (\d+)/.exec(message)?.[1] ?? Number.NaN);
        failure = { message, exit_code: Number.isNaN(exitCode) ? null : exitCode, step };
        return;
      }
      if (typeof value.stream === 'string') output(value.stream);
      if (typeof value.aux === 'string' && value.id === 'moby.buildkit.trace') trace(value.aux);
      const id = (value.aux as { ID?: unknown } | undefined)?.ID;
      if (typeof id === 'string') imageId = id;
    },
    get failure() {
      return failure;
    },
    get imageId() {
      return imageId;
    },
    tail,
    made,
  };
}

/** Our own step is a page long, and nobody wrote it who could correct it. */
function stepName(step: string): string {
  const text = printable(step);
  return text.includes(OWN_STEP) ? `${text.slice(0, text.indexOf('RUN'))}RUN ${OWN_STEP_NAME}` : text;
}

/** As it may go to a terminal. */
function printable(text: string, maxChars = MAX_LINE_CHARS): string {
  const plain = stripVTControlCharacters(text).replace(/(?!\t)\p{Cc}/gu, '');
  return redact(plain.trimEnd()).slice(0, maxChars);
}
