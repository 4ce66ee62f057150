import type { ReadStream, WriteStream } from 'node:tty';
import type { CapsuleMessage, SessionInfo } from '../protocol/index.ts';
import { type Link, reasonOfLoss } from './link.ts';
import type { Ending, EndingSlot } from './outcome.ts';
import { createPrefixParser, type Prefix } from './prefix.ts';
import { createSizeWatch } from './size-watch.ts';
import type { Terminal } from './terminal.ts';

export interface JoinOptions {
  link: Link;
  terminal: Terminal;
  stdin: ReadStream;
  stdout: WriteStream;
  prefix: Prefix;
  ending: EndingSlot;
}

/** Terminal and session, joined: bytes both ways, sizes, and whatever ends it. */
export interface Joined {
  /** Asks for the session and waits for the end. @throws JackinError what the capsule answers */
  begin(sessionId: string | null): Promise<Ending>;
  /** Asks for the whole screen again. */
  repaint(): void;
  /** Listens to nothing any more. */
  leave(): void;
}

/** More unsent input than this, and the keyboard waits too: somebody pastes into a session that does not read. */
const MAX_UNSENT_BYTES = 1024 * 1024;

export function joinSession({ link, terminal, stdin, stdout, prefix, ending }: JoinOptions): Joined {
  const { connection, stream } = link;
  const parser = createPrefixParser(prefix);
  const early: Uint8Array[] = [];
  /** Sessions that ended before the answer to our request said which one is ours. */
  const ended: SessionInfo[] = [];
  let session: SessionInfo | null = null;
  let listening = true;
  /** Announced by the capsule: it will not wait for a decision, so an end of the session is part of the loss. */
  let stopping = false;
  /** Bytes of the last repaint still to come; null before the first. */
  let toPaint: number | null = null;
  /** Ours was over when we came: said when its last screen is shown. */
  let overAlready: SessionInfo | null = null;
  const sizes = createSizeWatch(terminal.size, repaint);

  const gone = (): void => ending.settle({ kind: 'hangup', signal: null });

  function follow(): void {
    const { cols, rows } = terminal.size();
    if (session !== null) connection.resize(cols, rows);
  }

  function onInput(chunk: Uint8Array | string): void {
    const { forward, detach } = parser.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    if (forward.length > 0) send(forward);
    if (detach) ending.settle({ kind: 'detached' });
  }

  function send(bytes: Uint8Array): void {
    if (session === null) {
      early.push(bytes);
      return;
    }
    connection.write(bytes);
    if (stream.writableLength <= MAX_UNSENT_BYTES || stdin.isPaused()) return;
    stdin.pause();
    stream.once('drain', () => {
      if (listening) stdin.resume();
    });
  }

  function onTerminal(bytes: Uint8Array): Promise<void> | undefined {
    const held = terminal.output.write(bytes);
    if (toPaint !== null) toPaint -= bytes.length;
    endIfPainted();
    return held;
  }

  function endIfPainted(): void {
    if (overAlready !== null && toPaint !== null && toPaint <= 0) endedWith(overAlready);
  }

  function onMessage(message: CapsuleMessage): void {
    if (message.type === 'stopping') stopping = true;
    else if (message.type === 'repaint') {
      toPaint = message.bytes;
      sizes.painted(message);
      endIfPainted();
    } else if (message.type === 'resized') sizes.inForce(message);
    else if (message.type === 'session_started' && isWaiting(session)) session = message.session;
    else if (message.type === 'session_ended') onSessionEnded(message.session);
  }

  function onSessionEnded(info: SessionInfo): void {
    if (session === null) ended.push(info);
    else if (info.session_id === session.session_id) endedWith(info);
  }

  function endedWith({ ended: end }: SessionInfo): void {
    if (stopping) return;
    const { code = null, signal = null, oom = false } = end ?? {};
    ending.settle({ kind: 'ended', code, signal, oom });
  }

  function joinedTo(info: SessionInfo): void {
    session = info;
    for (const bytes of early.splice(0)) send(bytes);
    const end = ended.find(({ session_id }) => session_id === info.session_id);
    if (end !== undefined) endedWith(end);
    else if (info.ended !== null) {
      overAlready = info;
      endIfPainted();
    }
    // The window may have changed while the answer was on its way.
    follow();
  }

  async function request(sessionId: string | null): Promise<void> {
    try {
      joinedTo(await connection.attach({ sessionId, ...terminal.size() }));
    } catch (error) {
      ending.settle({ kind: 'lost', reason: reasonOfLoss(error) });
    }
  }

  function repaint(): void {
    if (session === null || !listening) return;
    // What the capsule answers to a session on screen is never a reason to fail: the end of it is told apart.
    request(isWaiting(session) ? null : session.session_id).catch(() => {});
  }

  const stopTerminal = connection.onTerminal(onTerminal);
  const stopMessages = connection.onMessage(onMessage);
  void connection.closed.then(({ reason }) => ending.settle({ kind: 'lost', reason }));
  stdin.on('data', onInput);
  stdin.on('end', gone);
  stdin.on('error', gone);
  stdout.on('resize', follow);
  stdin.resume();

  return {
    async begin(sessionId) {
      await Promise.race([request(sessionId), ending.promise]);
      return ending.promise;
    },
    repaint,
    leave() {
      listening = false;
      sizes.close();
      stopTerminal();
      stopMessages();
      stdin.off('data', onInput);
      stdin.off('end', gone);
      stdin.off('error', gone);
      stdout.off('resize', follow);
      stdin.pause();
    },
  };
}

/** Nothing was started in the capsule yet: it shows a sentence, and the first session takes its place. */
function isWaiting(session: SessionInfo | null): boolean {
  return session !== null && !session.alive && session.ended === null;
}
