export { createAttach } from './create-attach.ts';
export type { Attach, AttachHold, AttachOutcome, AttachRequest } from './outcome.ts';
export { createPrefixParser, type Prefix, type PrefixParser, parsePrefix } from './prefix.ts';
export { RESET_SEQUENCE, RESTORE_TITLE, SAVE_TITLE } from './sequences.ts';
export type { TerminalInput, TerminalOutput, TerminalStreams } from './terminal.ts';
