/** What a full-screen program arms, in one piece: everything attach has to take back. */
export const ARMED: string = [
  '\u001b]0;agent title\u0007',
  '\u001b[>1u',
  '\u001b[>4;2m',
  '\u001b[?1049h',
  '\u001b[>3u',
  '\u001b[?1000h\u001b[?1002h\u001b[?1003h\u001b[?1005h\u001b[?1006h',
  '\u001b[?1004h\u001b[?2004h',
  '\u001b[?25l\u001b[5 q',
  '\u001b[?1h\u001b=',
  '\u001b[5;10r\u001b[?6h\u001b[4h\u001b[?7l\u001b[?45h',
  '\u001b[31;1m\u001b(0',
].join('');

/** The state of an emulator that was told ARMED, as far as it differs from a fresh one. */
export const ARMED_STATE = {
  title: 'agent title',
  kitty: [1, 3],
  otherKeys: 2,
  screen: 'alternate',
  mouse: 'any',
  mouseEncoding: 'SGR',
  focus: true,
  paste: true,
  cursorHidden: true,
  cursorStyle: 'bar',
  cursorKeys: true,
  keypad: true,
  scrollRegion: [4, 9],
  origin: true,
  insert: true,
  wraparound: false,
  reverseWraparound: true,
  charset: 'other',
};
