import { describe, expect, test } from '@jest/globals';
import { printfEscaped, RESET_SEQUENCE, RESTORE_TITLE, SAVE_TITLE } from '../../src/attach/sequences.ts';
import { createEmulator, type Emulator } from './support/emulator.ts';
import { ARMED, ARMED_STATE } from './support/session-noise.ts';

const write = (emulator: Emulator, text: string): Promise<void> => emulator.write(Buffer.from(text));
const cursor = ({ terminal }: Emulator): number[] => [
  terminal.buffer.active.cursorX,
  terminal.buffer.active.cursorY,
];

async function fresh(text = ''): Promise<Emulator> {
  const emulator = createEmulator(80, 24);
  await write(emulator, text);
  return emulator;
}

describe('the reset sequence', () => {
  test('takes back everything a program armed, and the title from its stack', async () => {
    const emulator = await fresh();
    const before = emulator.state();
    await write(emulator, `${SAVE_TITLE}${ARMED}\u001b[?2026h`);
    expect(emulator.state()).toMatchObject({ ...ARMED_STATE, synchronized: true });
    await write(emulator, RESET_SEQUENCE + RESTORE_TITLE);
    expect(emulator.state()).toEqual(before);
  });

  test('changes nothing on a terminal that is in order', async () => {
    const emulator = await fresh('one\r\ntwo\r\n$ ');
    const before = { ...emulator.state(), text: emulator.text(), cursor: cursor(emulator) };
    await write(emulator, RESET_SEQUENCE + RESET_SEQUENCE);
    expect({ ...emulator.state(), text: emulator.text(), cursor: cursor(emulator) }).toEqual(before);
  });

  test('returns to the main screen where the cursor was left', async () => {
    const emulator = await fresh('one\r\ntwo');
    const before = cursor(emulator);
    await write(emulator, `${ARMED}\u001b[7;3Hnoise${RESET_SEQUENCE}`);
    expect(emulator.text()).toBe('one\ntwo');
    expect(cursor(emulator)).toEqual(before);
  });

  test.each([
    ['a control sequence', '\u001b[38;5'],
    ['an operating system command', '\u001b]0;half a ti'],
    ['a device control string', '\u001bP+q544e'],
    ['an application command', '\u001b_Ga=T;AAAA'],
    ['an escape', '\u001b'],
  ])('is understood when the output was cut inside %s', async (_name, cut) => {
    const emulator = await fresh();
    const before = emulator.state();
    await write(emulator, `\u001b[?1003h\u001b[?1049h${cut}`);
    await write(emulator, RESET_SEQUENCE);
    expect(emulator.state()).toEqual(before);
    expect(emulator.text()).toBe('');
  });

  test('is understood when the output was cut inside a UTF-8 character', async () => {
    const emulator = await fresh('\u001b[?1003h');
    await emulator.write(Uint8Array.of(0xe2, 0x82));
    await write(emulator, RESET_SEQUENCE);
    expect(emulator.state().mouse).toBe('none');
  });

  test.each([1000, 1002, 1003, 1005, 1006, 1015, 1016, 1004, 2004, 2026, 2031, 2048, 1049, 1, 66, 5, 69])(
    'switches mode %d off, whether the emulator here knows it or not',
    (mode) => {
      expect(RESET_SEQUENCE).toContain(`\u001b[?${mode}l`);
    },
  );

  test('has a form for printf without any control character', () => {
    const escaped = printfEscaped(RESET_SEQUENCE + RESTORE_TITLE);
    expect(escaped).toMatch(/^[\x20-\x7e]+$/);
    const text = escaped.replaceAll(/\\([0-7]{3})/g, (_all, octal) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    expect(text).toBe(RESET_SEQUENCE + RESTORE_TITLE);
    expect(printfEscaped("100% 'x'")).toBe('100%% \\047x\\047');
  });
});
