/**
 * One frame: 4 bytes big-endian length of what follows, 1 byte kind, payload. A length of 0 or above
 * MAX_FRAME_BYTES + 1 is malformed and closes that connection only.
 */
export const FRAME_JSON = 0;
/** Terminal bytes of the session this connection is attached to, in either direction. */
export const FRAME_TERMINAL = 1;
export const MAX_FRAME_BYTES = 1024 * 1024;
