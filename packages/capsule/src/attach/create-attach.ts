import { JackinError } from '@jackin/core';
import { closeLink, connectLink, holdOf, type Link } from './link.ts';
import {
  type Attach,
  type AttachOutcome,
  type AttachRequest,
  createEndingSlot,
  type Ending,
} from './outcome.ts';
import { parsePrefix } from './prefix.ts';
import { type Joined, joinSession } from './session.ts';
import { type HangupSignal, watchSignals } from './signals.ts';
import { enterTerminal, type Terminal, type TerminalStreams } from './terminal.ts';

/** The terminal side of attach (docs/attach.md): connects the operator's terminal with a capsule's session. */
export function createAttach(options: TerminalStreams): Attach {
  return { run: (request) => run(options, request) };
}

async function run(options: TerminalStreams, request: AttachRequest): Promise<AttachOutcome> {
  const prefix = parsePrefix(request.prefix);
  requireTerminal(options);
  const ending = createEndingSlot();
  let terminal: Terminal | null = null;
  let joined: Joined | null = null;
  let asked: HangupSignal | null = null;
  const unwatch = watchSignals({
    onHangup(signal) {
      asked ??= signal;
      ending.settle({ kind: 'hangup', signal });
    },
    onStop: () => terminal?.suspend(),
    onContinue: () => {
      terminal?.resume();
      joined?.repaint();
    },
  });
  try {
    const link = await connectLink(request, ending);
    if (link === null) {
      const early = await ending.promise;
      if (early.kind === 'hangup') outliveHangup();
      return outcomeOf(early, null);
    }
    let result: Ending | null = null;
    try {
      terminal = await enterTerminal(options, () => ending.settle({ kind: 'hangup', signal: null }));
      joined = joinSession({ link, terminal, stdin: options.stdin, stdout: options.stdout, prefix, ending });
      result = await joined.begin(request.session_id);
    } finally {
      joined?.leave();
      await terminal?.leave(showsRest(result) ? 'all' : 'nothing');
      if (result?.kind === 'hangup') outliveHangup();
      unwatch();
      // Asked to end while the last output was shown: nobody should be asked anything now.
      if (asked !== null) result = { kind: 'hangup', signal: asked };
      if (result?.kind !== 'ended') await closeLink(link);
    }
    options.events({ type: 'debug', message: 'attach ended', fields: { ending: result.kind } });
    return outcomeOf(result, link);
  } finally {
    unwatch();
  }
}

/**
 * The end of a terminal may be read before its signal comes, which then must not end what still has to be said and
 * written. There is one terminal, so this lasts.
 */
function outliveHangup(): void {
  if (!process.listeners('SIGHUP').includes(nothing)) process.on('SIGHUP', nothing);
}

const nothing = (): void => {};

/** What a session wrote last belongs on the screen; after a detach nobody waits for it. */
function showsRest(ending: Ending | null): boolean {
  return ending?.kind === 'ended' || ending?.kind === 'lost';
}

function outcomeOf(ending: Ending, link: Link | null): AttachOutcome {
  return ending.kind === 'ended' ? { ...ending, hold: holdOf(link) } : ending;
}

function requireTerminal({ stdin, stdout }: TerminalStreams): void {
  if (stdin.isTTY && stdout.isTTY) return;
  throw new JackinError({
    code: 'ATTACH_NEEDS_TERMINAL',
    message: `Attaching needs a terminal, and ${stdin.isTTY ? 'the output' : 'the input'} is not one.`,
    hint: 'Run the command in a terminal, or use --detach.',
    exitCode: 2,
  });
}
