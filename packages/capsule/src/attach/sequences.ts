const CSI = '\u001b[';

const MOUSE_MODES = [9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016];
/** Focus reports, bracketed paste, colour scheme reports, size reports. */
const REPORT_MODES = [1004, 2004, 2031, 2048];
/** Cursor keys, keypad, reverse video, reverse wraparound, left and right margins. */
const OTHER_MODES = [1, 66, 5, 45, 69];

/**
 * Brings a terminal back from whatever a session left in it: inside a sequence, on the alternate screen, with
 * modes armed. Writing it twice does no harm, and the cursor stays where it is on the screen it returns to.
 * The title is not in it, because the terminal's title stack must be popped exactly once (docs/attach.md).
 */
export const RESET_SEQUENCE: string = [
  // Ends a control string or sequence the output was cut in; before anything else, or it is swallowed too.
  '\u0018\u001b\\',
  `${CSI}?2026l`,
  // kitty keyboard flags are stacked per screen: on this one now, on the other one below.
  `${CSI}<99u`,
  // ?1049l puts the cursor where it was saved, also when the main screen is shown already: save it first.
  `\u001b7${CSI}?1049l`,
  `${CSI}<99u${CSI}>4m`,
  // The soft reset leaves origin mode and scroll region without moving the cursor; terminals that do not know
  // it get the same in the long form.
  `${CSI}!p`,
  `\u001b7${CSI}r\u001b8`,
  ...[...MOUSE_MODES, ...REPORT_MODES, ...OTHER_MODES].map((mode) => `${CSI}?${mode}l`),
  `${CSI}?7h${CSI}?25h`,
  `${CSI}4l${CSI}20l\u001b>`,
  `\u001b(B\u000f`,
  `\u001b]8;;\u001b\\`,
  `${CSI}0 q${CSI}0m`,
].join('');

/** Puts the terminal's title on its stack, and takes it back from there. */
export const SAVE_TITLE: string = `${CSI}22;0t`;
export const RESTORE_TITLE: string = `${CSI}23;0t`;

/** A fresh line below what the session showed, with nothing of it underneath. */
export const FRESH_LINE: string = `\r\n${CSI}J`;

/** A sequence as text for printf(1): no control character ever appears in an argument list. */
export function printfEscaped(sequence: string): string {
  return [...sequence]
    .map((character) => {
      const code = character.charCodeAt(0);
      if (character === '%') return '%%';
      if (code < 0x20 || character === '\\' || character === "'")
        return `\\${code.toString(8).padStart(3, '0')}`;
      return character;
    })
    .join('');
}
