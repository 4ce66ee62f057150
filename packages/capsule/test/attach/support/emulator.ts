import headless, { type Terminal as HeadlessTerminal } from '@xterm/headless';

const { Terminal } = headless;

/** What the emulator keeps to itself; read only. */
interface Internals {
  _core: {
    coreService: {
      isCursorHidden: boolean;
      decPrivateModes: { cursorStyle?: string; cursorBlink?: boolean };
    };
    coreMouseService: { activeEncoding: string };
    _charsetService: { charset: unknown; glevel: number };
    _inputHandler: { _curAttrData: { fg: number; bg: number } };
    buffer: { scrollTop: number; scrollBottom: number };
  };
}

/** An emulated terminal with everything a session can leave behind, as one comparable value. */
export interface Emulator {
  readonly terminal: HeadlessTerminal;
  write(bytes: Uint8Array): Promise<void>;
  text(): string;
  state(): Record<string, unknown>;
}

export function createEmulator(cols: number, rows: number): Emulator {
  const terminal = new Terminal({
    cols,
    rows,
    scrollback: 1000,
    allowProposedApi: true,
    windowOptions: { pushTitle: true, popTitle: true },
  });
  let title = '';
  terminal.onTitleChange((value) => {
    title = value;
  });
  const kitty = followKittyKeyboard(terminal);
  let otherKeys = 0;
  terminal.parser.registerCsiHandler({ prefix: '>', final: 'm' }, ([resource, value]) => {
    if (resource === 4) otherKeys = Number(value ?? 0);
    return true;
  });
  const core = (terminal as unknown as Internals)._core;
  return {
    terminal,
    write: (bytes) => new Promise((resolve) => terminal.write(bytes, resolve)),
    text: () => screenText(terminal),
    state: () => ({
      ...modesOf(terminal),
      screen: terminal.buffer.active.type,
      title,
      kitty: kitty(),
      otherKeys,
      cursorHidden: core.coreService.isCursorHidden,
      cursorStyle: core.coreService.decPrivateModes.cursorStyle ?? 'default',
      mouseEncoding: core.coreMouseService.activeEncoding,
      charset: core._charsetService.charset === undefined ? 'ascii' : 'other',
      foreground: core._inputHandler._curAttrData.fg,
      scrollRegion: [core.buffer.scrollTop, core.buffer.scrollBottom],
    }),
  };
}

function modesOf(terminal: HeadlessTerminal): Record<string, unknown> {
  const { modes } = terminal;
  return {
    cursorKeys: modes.applicationCursorKeysMode,
    keypad: modes.applicationKeypadMode,
    paste: modes.bracketedPasteMode,
    insert: modes.insertMode,
    mouse: modes.mouseTrackingMode,
    origin: modes.originMode,
    focus: modes.sendFocusMode,
    synchronized: modes.synchronizedOutputMode,
    wraparound: modes.wraparoundMode,
    reverseWraparound: modes.reverseWraparoundMode,
  };
}

/** Flags are pushed and popped on a stack per screen; the emulator does not know them. */
function followKittyKeyboard(terminal: HeadlessTerminal): () => number[] {
  const stacks: Record<string, number[]> = { normal: [], alternate: [] };
  const current = (): number[] => stacks[terminal.buffer.active.type] ?? [];
  terminal.parser.registerCsiHandler({ prefix: '>', final: 'u' }, ([flags]) => {
    current().push(Number(flags));
    return true;
  });
  terminal.parser.registerCsiHandler({ prefix: '<', final: 'u' }, ([count]) => {
    current().splice(-Math.max(1, Number(count)));
    return true;
  });
  return () => [...(stacks.normal ?? []), ...(stacks.alternate ?? [])];
}

function screenText(terminal: HeadlessTerminal): string {
  const { active } = terminal.buffer;
  const lines = Array.from({ length: terminal.rows }, (_, row) =>
    (active.getLine(active.viewportY + row)?.translateToString(true) ?? '').trimEnd(),
  );
  return lines.join('\n').trimEnd();
}
