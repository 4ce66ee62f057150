/** What the program writes to stderr with `--announce`, as a line of its own, when it listens. */
export const READY_LINE = 'jackin capsule ready';

/** What its proxy writes to stderr, as a line of its own, when it is connected. */
export const CONNECTED_LINE = 'jackin capsule connected';
