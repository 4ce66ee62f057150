import type { IBufferCell, Terminal } from '@xterm/headless';

/**
 * What the model must know of @xterm/headless beyond its public API; the only place that does. The dependency is
 * pinned to one exact version, and a test fails when one of these is not there any more.
 */

/** Colours and flags as the emulator packs them; `_ext` and `_urlId` count only with {@link HAS_EXTENDED} in `bg`. */
export interface Attributes {
  fg: number;
  bg: number;
  extended: { _ext: number; _urlId: number };
}

export const COLOR_MODE = 0x3000000;
export const COLOR_BITS = COLOR_MODE | 0xffffff;
export const FG_FLAGS = {
  inverse: 0x4000000,
  bold: 0x8000000,
  underline: 0x10000000,
  blink: 0x20000000,
  invisible: 0x40000000,
  strikethrough: 0x80000000,
} as const;
export const BG_FLAGS = {
  italic: 0x4000000,
  dim: 0x8000000,
  hasExtended: 0x10000000,
  protected: 0x20000000,
  overline: 0x40000000,
} as const;

export interface BufferState {
  ybase: number;
  x: number;
  y: number;
  savedX: number;
  /** Absolute row, scrollback included. */
  savedY: number;
  savedCurAttrData: Attributes;
  scrollTop: number;
  scrollBottom: number;
  tabs: Record<number, boolean | undefined>;
}

export interface TerminalState {
  pen: Attributes;
  normal: BufferState;
  alternate: BufferState;
  cursorHidden: boolean;
  cursorStyle: 'block' | 'underline' | 'bar' | undefined;
  cursorBlinks: boolean | undefined;
  mouseEncoding: 'DEFAULT' | 'SGR' | 'SGR_PIXELS';
  charsetLevel: number;
  title: string;
  iconName: string;
  linkOf(id: number): { id: string | undefined; uri: string } | undefined;
}

interface Core {
  _inputHandler: {
    _curAttrData: Attributes;
    _windowTitle: string;
    _iconName: string;
    _parser: {
      _csiHandlers: Record<string, ((parameters: unknown) => boolean)[]>;
      _escHandlers: Record<string, (() => boolean)[]>;
      reset(): void;
    };
  };
  _writeBuffer: { _action(data: string | Uint8Array): unknown };
  _bufferService: { buffers: { _normal: BufferState; _alt: BufferState } };
  coreService: {
    isCursorHidden: boolean;
    decPrivateModes: { cursorStyle: TerminalState['cursorStyle']; cursorBlink: boolean | undefined };
  };
  coreMouseService: { activeEncoding: TerminalState['mouseEncoding'] };
  _charsetService: { glevel: number };
  _oscLinkService: { getLinkData(id: number): { id: string | undefined; uri: string } | undefined };
}

export function stateOf(terminal: Terminal): TerminalState {
  const core = coreOf(terminal);
  const { cursorStyle, cursorBlink } = core.coreService.decPrivateModes;
  return {
    pen: core._inputHandler._curAttrData,
    normal: core._bufferService.buffers._normal,
    alternate: core._bufferService.buffers._alt,
    cursorHidden: core.coreService.isCursorHidden,
    cursorStyle,
    cursorBlinks: cursorBlink,
    mouseEncoding: core.coreMouseService.activeEncoding,
    charsetLevel: core._charsetService.glevel,
    title: core._inputHandler._windowTitle,
    iconName: core._inputHandler._iconName,
    linkOf: (id) => core._oscLinkService.getLinkData(id),
  };
}

/** A cell read through the public API carries its attributes. */
export function attributesOf(cell: IBufferCell): Attributes {
  return cell as unknown as Attributes;
}

/**
 * An exception inside the emulator stops its parser for good and surfaces where nobody can catch it (6.0.0: erase
 * above, in the last cell of a screen without scrollback). This keeps it inside the one sequence that caused it.
 * Call it after the last handler was registered.
 */
export function containFailures(terminal: Terminal): void {
  const { _inputHandler: input, _writeBuffer: buffer } = coreOf(terminal);
  const { _csiHandlers: csi, _escHandlers: esc } = input._parser;
  for (const id of Object.keys(csi)) csi[id] = (csi[id] ?? []).map(contained);
  for (const id of Object.keys(esc)) esc[id] = (esc[id] ?? []).map(contained);
  const parse = buffer._action.bind(buffer);
  buffer._action = (data) => {
    try {
      return parse(data);
    } catch {
      input._parser.reset();
      return undefined;
    }
  };
}

function contained<A extends unknown[]>(handler: (...args: A) => boolean): (...args: A) => boolean {
  return (...args) => {
    try {
      return handler(...args);
    } catch {
      return true;
    }
  };
}

function coreOf(terminal: Terminal): Core {
  return (terminal as unknown as { _core: Core })._core;
}
