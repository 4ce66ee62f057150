import { SCREEN_FILE, type Screen, STATE_FILE_MAX_BYTES } from '../protocol/index.ts';
import type { TerminalText } from '../terminal/terminal-model.ts';
import type { StateDir } from './state-dir.ts';

/** Keeps the last screen as a file, so that it can be shown when no capsule lives. */
export interface ScreenWriter {
  /** The session's screen may have changed. Written at most once a second. */
  changed(source: ScreenSource): void;
  /** Written now: nothing more follows. */
  last(source: ScreenSource): void;
}

export interface ScreenSource {
  readonly id: string;
  screen(): TerminalText;
}

const INTERVAL_MS = 1000;
const MAX_LINES = 400;
const MAX_LINE_LENGTH = 4096;
const MAX_TITLE_LENGTH = 256;

export function createScreenWriter(state: StateDir): ScreenWriter {
  let timer: NodeJS.Timeout | undefined;
  let latest: ScreenSource | undefined;

  function write(source: ScreenSource): void {
    clearTimeout(timer);
    timer = undefined;
    state.write(SCREEN_FILE, screenOf(source));
  }

  return {
    changed(source) {
      latest = source;
      timer ??= setTimeout(() => {
        if (latest !== undefined) write(latest);
      }, INTERVAL_MS);
    },
    last: write,
  };
}

function screenOf(source: ScreenSource): Screen {
  const { title, lines } = source.screen();
  const screen: Screen = {
    version: 1,
    session_id: source.id,
    title: title.slice(0, MAX_TITLE_LENGTH),
    at: new Date().toISOString(),
    lines: lines.slice(-MAX_LINES).map((line) => line.slice(0, MAX_LINE_LENGTH)),
  };
  while (screen.lines.length > 0 && Buffer.byteLength(JSON.stringify(screen)) > STATE_FILE_MAX_BYTES) {
    screen.lines.splice(0, Math.ceil(screen.lines.length / 4));
  }
  return screen;
}
