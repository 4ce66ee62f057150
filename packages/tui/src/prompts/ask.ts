import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';

const CTRL_C = 3;
const CTRL_D = 4;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export interface AskTerminal {
  stdin: ReadStream;
  /** Where questions are written: stderr, so that stdout stays the result. */
  output: WriteStream;
  env: NodeJS.ProcessEnv;
  color: boolean;
}

/**
 * One line typed by the operator, or null when they gave none: Ctrl-C, Ctrl-D, end of input, a terminal that went
 * away, SIGINT or SIGTERM. Null decides nothing, so whoever asks must treat it as "keep". The cursor is visible and
 * the terminal's settings are the old ones afterwards.
 */
export async function askLine(terminal: AskTerminal, message: string): Promise<string | null> {
  const { stdin, output } = terminal;
  const leave = new AbortController();
  const abort = () => leave.abort();
  const streamEvents = ['end', 'close', 'error'] as const;
  for (const event of streamEvents) stdin.on(event, abort);
  output.on('error', abort);
  process.on('SIGINT', abort);
  process.on('SIGTERM', abort);
  try {
    if (stdin.readableEnded || stdin.destroyed) return null;
    const ask = terminal.env.TERM === 'dumb' ? askDumb : askEnquirer;
    return await ask(terminal, message, leave);
  } finally {
    for (const event of streamEvents) stdin.off(event, abort);
    output.off('error', abort);
    process.off('SIGINT', abort);
    process.off('SIGTERM', abort);
    stdin.pause();
    if (terminal.env.TERM !== 'dumb') output.write('\u001b[?25h');
  }
}

interface EnquirerPrompt {
  cancel(): Promise<void>;
  cursorHide(): void;
}

async function askEnquirer(
  terminal: AskTerminal,
  message: string,
  leave: AbortController,
): Promise<string | null> {
  const { signal } = leave;
  const { default: Enquirer } = await import('enquirer');
  if (signal.aborted) return null;
  const enquirer = new Enquirer<{ answer?: string }>();
  enquirer.on('prompt', (prompt: EnquirerPrompt) => {
    // Hiding the cursor installs signal handlers that end the process; a signal at a question must mean "no answer".
    prompt.cursorHide = () => undefined;
    signal.addEventListener('abort', () => void prompt.cancel(), { once: true });
  });
  const keys = keyboard(terminal.stdin, leave);
  const question = {
    type: 'input',
    name: 'answer',
    message,
    stdin: keys.stream,
    stdout: terminal.output,
    ...(terminal.color ? {} : { styles: plainStyles() }),
  };
  try {
    const { answer } = await enquirer.prompt(question);
    return signal.aborted ? null : (answer ?? '');
  } catch (cancelled) {
    // A cancelled prompt rejects with an empty string; a real failure is an Error.
    if (cancelled instanceof Error) throw cancelled;
    return null;
  } finally {
    keys.release();
  }
}

/**
 * The terminal's keys without Ctrl-C and Ctrl-D, which end the question here: enquirer's reader closes itself on
 * Ctrl-C and then fails on its own closed reader.
 */
function keyboard(stdin: ReadStream, leave: AbortController): { stream: ReadStream; release(): void } {
  const stream = Object.assign(new PassThrough(), {
    isTTY: true,
    isRaw: stdin.isRaw,
    setRawMode: (raw: boolean) => stdin.setRawMode(raw),
  });
  const release = (): void => {
    stdin.off('data', forward);
    stdin.pause();
  };
  const forward = (chunk: Buffer): void => {
    if (chunk.includes(CTRL_C) || chunk.includes(CTRL_D)) {
      leave.abort();
      return;
    }
    const end = chunk.findIndex((byte) => byte === CARRIAGE_RETURN || byte === LINE_FEED) + 1;
    if (end === 0) {
      stream.write(chunk);
      return;
    }
    // What was typed ahead belongs to the next question.
    release();
    if (end < chunk.length) stdin.unshift(chunk.subarray(end));
    stream.write(chunk.subarray(0, end));
  };
  stdin.on('data', forward);
  stdin.resume();
  return { stream: stream as unknown as ReadStream, release };
}

/** A terminal that understands no cursor movement: the question, then one line in the terminal's own line editing. */
async function askDumb(
  terminal: AskTerminal,
  message: string,
  leave: AbortController,
): Promise<string | null> {
  const { createInterface } = await import('node:readline/promises');
  const { signal } = leave;
  const lineReader = createInterface({ input: terminal.stdin, output: terminal.output, terminal: false });
  try {
    const closed = new Promise<null>((resolve) => lineReader.once('close', () => resolve(null)));
    return await Promise.race([lineReader.question(`${message} `, { signal }).catch(() => null), closed]);
  } finally {
    lineReader.close();
  }
}

function plainStyles(): Record<string, (text: string) => string> {
  const names = [
    'primary',
    'success',
    'black',
    'danger',
    'warning',
    'strong',
    'muted',
    'disabled',
    'em',
    'dark',
    'info',
  ];
  const states = [
    'pending',
    'submitted',
    'cancelled',
    'typing',
    'placeholder',
    'highlight',
    'complement',
    'inverse',
  ];
  return Object.fromEntries([...names, ...states].map((name) => [name, (text: string) => text]));
}
