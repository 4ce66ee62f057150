import type { ProcessIdentity } from '@jackin/core';
import type { SessionInfo, SessionPlan } from '../protocol/index.ts';
import { createOutputScanner } from '../terminal/output-scanner.ts';
import { openPty, type Pty, type PtyExit } from '../terminal/pty.ts';
import { createTerminalModel, type TerminalText } from '../terminal/terminal-model.ts';
import { commandOf } from './command.ts';
import { endProcesses, sessionProcesses } from './descendants.ts';
import { createSessionCgroup, surroundingOomKills } from './session-cgroup.ts';
import { createViewers, type Size, type Viewer } from './viewers.ts';

export interface SessionEnd {
  at: string;
  code: number | null;
  signal: string | null;
  /** Killed for lack of memory, as its own control group counted. */
  oom: boolean;
  /** The group counted a kill that did not end the agent. */
  oomNote: boolean;
  /** It was told to end. */
  requested: boolean;
}

export interface Session {
  readonly id: string;
  readonly agent: string;
  readonly alive: boolean;
  readonly end: SessionEnd | null;
  info(): SessionInfo;
  /** Adds a viewer: first the size, then what `ready` sends, then its repaint and all output after it. */
  attach(viewer: Viewer, ready?: () => void): void;
  detach(viewer: Viewer): void;
  /** The viewer's size changed. */
  adjustSize(): void;
  /** Input of a client; false when the program does not read and `onWritable` will tell. */
  write(bytes: Uint8Array): boolean;
  text(maxLines: number): Promise<TerminalText>;
  screen(): TerminalText;
  /** Ends the agent and everything it started. Resolves when nothing of it is left. */
  stop(graceMs: number, hurry?: AbortSignal): Promise<void>;
  dispose(): void;
}

export interface SessionOptions {
  plan: SessionPlan;
  instanceId: string;
  /** The agent's process is gone. */
  onExit(end: SessionEnd): void;
  /** After `onExit`: all output has been seen. */
  onEnded(): void;
  onOutput(): void;
  onWritable(): void;
  /** Processes that could not be ended. */
  onStuck(left: ProcessIdentity[]): void;
}

/** Unparsed output at which the program waits, and at which it goes on. */
const HIGH_WATER_BYTES = 512 * 1024;
const LOW_WATER_BYTES = 128 * 1024;
/** How long somebody may hold the terminal of an agent that ended. */
const OUTPUT_LIMIT_MS = 1000;
/** What the agent left running gets before it is killed. */
const LEFTOVER_GRACE_MS = 2000;

/**
 * Starts a session: a program on a terminal of its own, and a model of that terminal.
 * @throws JackinError what {@link commandOf} says; `LIMIT_UNENFORCEABLE`, `PTY_UNAVAILABLE`
 */
export function startSession(options: SessionOptions): Session {
  const { plan, instanceId } = options;
  const command = commandOf(plan, instanceId);
  const cgroup = createSessionCgroup({ instanceId, sessionId: plan.session_id, limits: plan.limits ?? {} });
  const oomKillsOf = cgroup?.oomKills ?? surroundingOomKills();
  const startedAt = new Date().toISOString();
  const size: Size = { cols: plan.cols, rows: plan.rows };
  const scanner = createOutputScanner();
  let end: SessionEnd | null = null;
  let unparsedBytes = 0;
  let paused = false;
  let requested = false;
  /** Nothing of the program's output is outstanding. */
  let finished = false;
  const finish = Promise.withResolvers<void>();

  const model = createTerminalModel({
    ...size,
    answer: (bytes) => void (end === null && pty.write(Buffer.from(bytes))),
  });
  const viewers = createViewers({
    sessionId: plan.session_id,
    size: () => size,
    repaint: () => model.repaint({ alive: !finished }),
  });
  const [file = '', ...args] = cgroup?.entering([command.file, ...command.args]) ?? [
    command.file,
    ...command.args,
  ];
  let pty: Pty;
  try {
    pty = openPty({
      ...command,
      ...size,
      file,
      args,
      onOutput,
      onExit,
      onEnd,
      onWritable: options.onWritable,
    });
  } catch (error) {
    cgroup?.remove();
    model.dispose();
    throw error;
  }

  // Clients get output when the model has it: at any moment a repaint and what follows it fit together.
  function onOutput(chunk: Buffer): void {
    const { model: forModel, clients } = scanner.push(chunk);
    if (forModel.length === 0) return;
    unparsedBytes += forModel.length;
    if (!paused && unparsedBytes > HIGH_WATER_BYTES) {
      paused = true;
      pty.pause();
    }
    model.write(forModel, () => {
      unparsedBytes -= forModel.length;
      if (paused && unparsedBytes <= LOW_WATER_BYTES) {
        paused = false;
        pty.resume();
      }
      viewers.output(clients);
      options.onOutput();
    });
  }

  function onExit({ code, signal }: PtyExit): void {
    const oomKills = oomKillsOf();
    const oom = oomKills > 0 && !requested && (signal === 'SIGKILL' || code === 137);
    end = { at: new Date().toISOString(), code, signal, oom, oomNote: oomKills > 0 && !oom, requested };
    setTimeout(() => pty.close(), OUTPUT_LIMIT_MS).unref();
    options.onExit(end);
    void endLeftovers(LEFTOVER_GRACE_MS);
  }

  function onEnd(): void {
    model.write(Buffer.alloc(0), () => {
      finished = true;
      options.onEnded();
      finish.resolve();
    });
  }

  /** True when nothing is left. */
  async function endLeftovers(graceMs: number, hurry?: AbortSignal): Promise<boolean> {
    const find = (): Promise<ProcessIdentity[]> =>
      sessionProcesses({
        instanceId,
        sessionId: plan.session_id,
        leader: pty.pid,
        leaderAlive: end === null,
        cgroupPids: cgroup?.pids() ?? [],
      });
    const left = await endProcesses({ find, graceMs, hurry });
    if (left.length > 0) options.onStuck(left);
    else if (end !== null) cgroup?.remove();
    return left.length === 0;
  }

  function adjustSize(except?: Viewer): void {
    const next = viewers.smallest();
    if (next === null || (next.cols === size.cols && next.rows === size.rows)) return;
    Object.assign(size, next);
    model.resize(size.cols, size.rows);
    if (end === null) pty.resize(size.cols, size.rows);
    viewers.tell({ type: 'resized', session_id: plan.session_id, ...size }, except);
  }

  return {
    id: plan.session_id,
    agent: plan.agent,
    get alive() {
      return end === null;
    },
    get end() {
      return end;
    },
    info: () => ({
      session_id: plan.session_id,
      name: plan.name,
      agent: plan.agent,
      alive: end === null,
      pid: end === null ? pty.pid : null,
      started_at: startedAt,
      ended: end === null ? null : { at: end.at, code: end.code, signal: end.signal, oom: end.oom },
      ...size,
      clients: viewers.count,
    }),
    attach(viewer, ready) {
      viewers.add(viewer);
      adjustSize(viewer);
      ready?.();
      viewers.repaint(viewer);
    },
    detach(viewer) {
      viewers.remove(viewer);
      adjustSize();
    },
    adjustSize: () => adjustSize(),
    write: (bytes) => end !== null || pty.write(bytes),
    text: (maxLines) =>
      new Promise((resolve) => model.write(Buffer.alloc(0), () => resolve(model.text(maxLines)))),
    screen: () => model.text(size.rows),
    async stop(graceMs, hurry) {
      if (end === null) requested = true;
      if (await endLeftovers(graceMs, hurry)) await finish.promise;
    },
    dispose: () => model.dispose(),
  };
}
