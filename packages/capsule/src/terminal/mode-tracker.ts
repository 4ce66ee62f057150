import type { IDisposable, IFunctionIdentifier, Terminal } from '@xterm/headless';

type Parameters = (number | number[])[];

/** Terminal state that clients' terminals know and the model's emulator does not. */
export interface ModeTracker {
  /** Sequences that bring a terminal in its reset state into the same modes, for the screen shown now. */
  arm(): string;
  /** Sequences that put back what {@link arm} may have set before; harmless on a terminal without these modes. */
  disarm(): string;
  /** The screen that is not shown: its own stack of keyboard flags. */
  armOtherScreen(): string;
  readonly charsets: readonly string[];
}

/** Reverse video, mouse encodings, alternate scroll, colour scheme reports. */
const PRIVATE_MODES = [5, 1005, 1007, 1015, 2031];
/** On by default in some terminals: whoever has not touched it does not switch it off. */
const ALTERNATE_SCROLL = 1007;
const MOUSE_ENCODINGS = [1005, 1006, 1015, 1016];
const CHARSET_SLOTS = ['(', ')', '*', '+'];
const CHARSETS = [...'0AB4C5RQKYEYZH7=', '6', '`'];
const MAX_KEYBOARD_STACK = 16;

/** Watches the model's parser; every handler lets the emulator go on with its own. */
export function trackModes(terminal: Terminal): ModeTracker {
  const set = new Set<number>();
  const keyboard = { normal: [0], alternate: [0] };
  let keyboardUsed = false;
  let modifyOtherKeys: number | null = null;
  let charsets = defaultCharsets();

  const screen = (): number[] => keyboard[terminal.buffer.active.type];
  const csi = (id: IFunctionIdentifier, see: (parameters: Parameters) => void): IDisposable =>
    terminal.parser.registerCsiHandler(id, (parameters) => pass(() => see(parameters)));
  const esc = (id: IFunctionIdentifier, see: () => void): IDisposable =>
    terminal.parser.registerEscHandler(id, () => pass(see));

  csi({ prefix: '?', final: 'h' }, (modes) => {
    for (const mode of numbers(modes)) {
      if (MOUSE_ENCODINGS.includes(mode)) for (const other of MOUSE_ENCODINGS) set.delete(other);
      if (PRIVATE_MODES.includes(mode)) set.add(mode);
    }
  });
  csi({ prefix: '?', final: 'l' }, (modes) => {
    for (const mode of numbers(modes)) set.delete(mode);
  });
  csi({ prefix: '>', final: 'u' }, ([flags]) => {
    keyboardUsed = true;
    const stack = screen();
    if (stack.length > MAX_KEYBOARD_STACK) stack.splice(1, 1);
    stack.push(number(flags));
  });
  csi({ prefix: '<', final: 'u' }, ([count]) => {
    const stack = screen();
    stack.length = Math.max(1, stack.length - Math.max(1, number(count)));
    if (stack.length === 1) stack[0] = 0;
  });
  csi({ prefix: '=', final: 'u' }, ([flags, how]) => {
    keyboardUsed = true;
    const stack = screen();
    stack[stack.length - 1] = changedFlags(stack.at(-1) ?? 0, number(flags), number(how));
  });
  csi({ prefix: '>', final: 'm' }, ([resource, value]) => {
    if (resource === undefined || number(resource) === 4) modifyOtherKeys = number(value);
  });
  csi({ intermediates: '!', final: 'p' }, () => {
    charsets = defaultCharsets();
    set.delete(5);
  });
  for (const [slot, intermediates] of CHARSET_SLOTS.entries()) {
    for (const final of CHARSETS) esc({ intermediates, final }, () => (charsets[slot] = final));
  }
  esc({ final: 'c' }, () => {
    set.clear();
    keyboard.normal = [0];
    keyboard.alternate = [0];
    modifyOtherKeys = null;
    charsets = defaultCharsets();
  });

  const pushed = (stack: number[]): string => {
    const base = stack[0] === 0 ? '' : `\u001b[=${stack[0]};1u`;
    return (
      base +
      stack
        .slice(1)
        .map((flags) => `\u001b[>${flags}u`)
        .join('')
    );
  };

  return {
    arm: () =>
      [...set].map((mode) => `\u001b[?${mode}h`).join('') +
      pushed(screen()) +
      (modifyOtherKeys === null || modifyOtherKeys === 0 ? '' : `\u001b[>4;${modifyOtherKeys}m`),
    armOtherScreen: () => pushed(keyboard.normal),
    disarm: () =>
      PRIVATE_MODES.filter((mode) => mode !== ALTERNATE_SCROLL || set.has(mode))
        .map((mode) => `\u001b[?${mode}l`)
        .join('') +
      (keyboardUsed ? `\u001b[<99u\u001b[=0;1u` : '') +
      (modifyOtherKeys === null ? '' : '\u001b[>4;0m'),
    get charsets() {
      return charsets;
    },
  };
}

function changedFlags(now: number, flags: number, how: number): number {
  if (how === 2) return now | flags;
  return how === 3 ? now & ~flags : flags;
}

function defaultCharsets(): string[] {
  return CHARSET_SLOTS.map(() => 'B');
}

function pass(see: () => void): boolean {
  see();
  return false;
}

function numbers(parameters: Parameters): number[] {
  return parameters.map(number);
}

function number(parameter: number | number[] | undefined): number {
  return typeof parameter === 'number' ? parameter : 0;
}
