import { MAX_FRAME_BYTES } from '../protocol/index.ts';
import type { TerminalText } from '../terminal/terminal-model.ts';

/** Room for the message around it. */
const MAX_TEXT_BYTES = MAX_FRAME_BYTES - 64 * 1024;
const MAX_TITLE_LENGTH = 1024;

/** A session's text as it fits into one message: the newest lines win. */
export function snapshotOf(text: TerminalText | undefined): TerminalText {
  if (text === undefined) return { title: '', lines: [] };
  const lines = [...text.lines];
  while (lines.length > 0 && Buffer.byteLength(JSON.stringify(lines)) > MAX_TEXT_BYTES) {
    lines.splice(0, Math.ceil(lines.length / 4));
  }
  return { title: text.title.slice(0, MAX_TITLE_LENGTH), lines };
}
