import {
  type Attributes,
  BG_FLAGS,
  COLOR_BITS,
  COLOR_MODE,
  FG_FLAGS,
  type TerminalState,
} from './xterm-internals.ts';

/** Writes the attribute changes of a repaint: what is in force is known, so that only changes cost bytes. */
export interface Pen {
  /** The sequences that bring `attributes` into force; empty when they are already. */
  to(attributes: Attributes): string;
  /** Plain again: no colour, no flag, no link. */
  toDefault(): string;
  /** No background colour is in force, so that what scrolls in or is erased is blank. */
  readonly blank: boolean;
}

export const DEFAULT_ATTRIBUTES: Attributes = { fg: 0, bg: 0, extended: { _ext: 0, _urlId: 0 } };

/** Starts from a terminal whose attributes have just been reset. */
export function createPen(linkOf: TerminalState['linkOf']): Pen {
  let [fg, bg, ext, url] = [0, 0, 0, 0];

  function to(attributes: Attributes): string {
    const extended = (attributes.bg & BG_FLAGS.hasExtended) !== 0;
    const nextExt = extended ? attributes.extended._ext : 0;
    const nextUrl = extended ? attributes.extended._urlId : 0;
    const nextBg = attributes.bg & ~BG_FLAGS.hasExtended;
    let text = '';
    if (nextUrl !== url) text += linkSequence(nextUrl === 0 ? undefined : linkOf(nextUrl));
    if (attributes.fg !== fg || nextBg !== bg || nextExt !== ext) {
      text += `\u001b[${sgrCodes(attributes.fg, nextBg, nextExt).join(';')}m`;
      // A reset of attributes ends protection on some terminals and not on others.
      if ((nextBg & BG_FLAGS.protected) !== 0) text += '\u001b[1"q';
      else if ((bg & BG_FLAGS.protected) !== 0) text += '\u001b[0"q';
    }
    [fg, bg, ext, url] = [attributes.fg, nextBg, nextExt, nextUrl];
    return text;
  }

  return {
    to,
    toDefault: () => to(DEFAULT_ATTRIBUTES),
    get blank() {
      return (bg & COLOR_BITS) === 0;
    },
  };
}

export function sameAttributes(left: Attributes, right: Attributes): boolean {
  if (left.fg !== right.fg || left.bg !== right.bg) return false;
  if ((left.bg & BG_FLAGS.hasExtended) === 0) return true;
  return left.extended._ext === right.extended._ext && left.extended._urlId === right.extended._urlId;
}

/** More than a background colour: an empty cell that an erase cannot make. */
export function hasFlags(attributes: Attributes): boolean {
  return attributes.fg !== 0 || (attributes.bg & ~COLOR_BITS) !== 0;
}

/** Always from a reset: "bold off" and "faint off" are one code, so that differences cannot be written one by one. */
function sgrCodes(fg: number, bg: number, ext: number): string[] {
  const codes = [''];
  if ((fg & FG_FLAGS.bold) !== 0) codes.push('1');
  if ((bg & BG_FLAGS.dim) !== 0) codes.push('2');
  if ((bg & BG_FLAGS.italic) !== 0) codes.push('3');
  if ((fg & FG_FLAGS.underline) !== 0) codes.push(underlineCode((ext >>> 26) & 7));
  if ((fg & FG_FLAGS.blink) !== 0) codes.push('5');
  if ((fg & FG_FLAGS.inverse) !== 0) codes.push('7');
  if ((fg & FG_FLAGS.invisible) !== 0) codes.push('8');
  if ((fg & FG_FLAGS.strikethrough) !== 0) codes.push('9');
  if ((bg & BG_FLAGS.overline) !== 0) codes.push('53');
  codes.push(...colorCodes(fg, 30), ...colorCodes(bg, 40), ...underlineColorCodes(ext));
  return codes;
}

function underlineCode(style: number): string {
  return style <= 1 ? '4' : `4:${style}`;
}

function colorCodes(value: number, base: 30 | 40): string[] {
  const color = value & 0xff;
  switch (value & COLOR_MODE) {
    case 0x1000000:
      return [String(color < 8 ? base + color : base + 60 + color - 8)];
    case 0x2000000:
      return [`${base + 8};5;${color}`];
    case 0x3000000:
      return [`${base + 8};2;${(value >>> 16) & 0xff};${(value >>> 8) & 0xff};${color}`];
    default:
      return [];
  }
}

function underlineColorCodes(ext: number): string[] {
  // The emulator keeps SGR 59, "no colour of its own", as all ones.
  if ((ext & COLOR_BITS) === COLOR_BITS) return ['59'];
  const color = ext & 0xff;
  switch (ext & COLOR_MODE) {
    case 0x1000000:
    case 0x2000000:
      return [`58:5:${color}`];
    case 0x3000000:
      return [`58:2::${(ext >>> 16) & 0xff}:${(ext >>> 8) & 0xff}:${color}`];
    default:
      return [];
  }
}

function linkSequence(link: { id: string | undefined; uri: string } | undefined): string {
  if (link === undefined) return '\u001b]8;;\u001b\\';
  return `\u001b]8;${link.id === undefined ? '' : `id=${printable(link.id)}`};${printable(link.uri)}\u001b\\`;
}

/** Text inside a control string: nothing in it may end the string. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '');
}
