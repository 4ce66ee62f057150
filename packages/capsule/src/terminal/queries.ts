/**
 * Which control sequences make a terminal send bytes. Only the capsule's own terminal model may answer a program;
 * a client's terminal that answered too would type into the session, or into the shell after it
 * (README, "Queries").
 */

export type ControlString = 'osc' | 'dcs' | 'apc' | 'other';

/** What clients get of a complete CSI sequence. */
export type CsiVerdict = { forward: 'all' } | { forward: 'nothing' } | { forward: 'instead'; text: string };

/** Keys are prefix + intermediates + final byte. */
const CSI_QUERIES = new Set([
  'n',
  '?n', // device status, cursor position
  '$p',
  '?$p', // mode
  '>q', // terminal version
  '?u', // kitty keyboard flags
  '?S', // graphics attributes
  '?m',
  '?g', // key modifier and key format options
  '$w',
  '$u',
  '&u',
  '"v',
  "'|",
  '*y', // presentation state, terminal state, charset, extent, locator, checksum
  '#R',
  '#S',
  '#|', // colour stack, title stack, attributes
]);
/** Queries only without a parameter or with 0. */
const CSI_QUERIES_OF_ZERO = new Set(['c', '>c', '=c']);
/** Window reports; the other window operations answer nothing. */
const WINDOW_REPORTS = new Set([11, 13, 14, 15, 16, 18, 19, 20, 21]);
/** In-band size reports: switching them on is answered at once. */
const SIZE_REPORTS = '2048';

/** `body` is what follows the introducer, final byte included. */
export function classifyCsi(body: string): CsiVerdict {
  const match = /^([<-?]?)([0-9:;]*)([ -/]*)([@-~])$/.exec(withoutControls(body));
  if (match === null) return { forward: 'all' };
  const [, prefix = '', parameters = '', intermediates = '', final = ''] = match;
  const key = prefix + intermediates + final;
  const first = Number.parseInt(parameters, 10) || 0;
  if (CSI_QUERIES.has(key)) return { forward: 'nothing' };
  if (CSI_QUERIES_OF_ZERO.has(key) && first === 0) return { forward: 'nothing' };
  if (key === 'x' && first <= 1) return { forward: 'nothing' };
  if (key === 't' && WINDOW_REPORTS.has(first)) return { forward: 'nothing' };
  if (key === '?h') return withoutSizeReports(parameters);
  return { forward: 'all' };
}

/** `head` is the beginning of what follows the introducer, without the terminator; `cut` when there is more of it. */
export function isQueryString(kind: ControlString, head: string, cut: boolean): boolean {
  const text = withoutControls(head);
  if (kind === 'osc') return isOscQuery(text, cut);
  // Kitty graphics commands are answered unless each of them forbids it, and no repaint could show the picture.
  if (kind === 'apc') return text.startsWith('G');
  if (kind === 'dcs') return isDcsQuery(text);
  return false;
}

/** Free text, where a leading question mark is nothing but that. */
const OSC_TEXT = new Set([0, 1, 2, 7, 8, 9, 133, 633, 777]);
/** Always answered: allowed and disallowed features, kitty file transfer and clipboard. */
const OSC_ALWAYS = new Set([60, 61, 5113, 5522]);

function isOscQuery(text: string, cut: boolean): boolean {
  const match = /^(\d*)(?:;(.*))?$/s.exec(text);
  if (match === null) return false;
  const id = Number(match[1]);
  const body = match[2] ?? '';
  if (OSC_ALWAYS.has(id)) return true;
  if (OSC_TEXT.has(id)) return false;
  if (id === 4 || id === 5 || (id >= 10 && id <= 19)) return cut || body.split(';').includes('?');
  if (id === 21) return cut || body.split(';').some((item) => item.endsWith('=?'));
  if (id === 52) return body.slice(body.indexOf(';') + 1).startsWith('?');
  if (id === 99) return (body.split(';')[0] ?? '').split(':').includes('p=?');
  if (id === 1337) return /^(ReportCellSize|ReportVariable=|RequestUpload=|Capabilities)/.test(body);
  return body.startsWith('?');
}

function isDcsQuery(text: string): boolean {
  // tmux passes the rest on to the terminal outside, kitty takes it as a remote command and answers.
  if (text.startsWith('tmux;') || text.startsWith('@kitty-')) return true;
  const match = /^[<-?]?[0-9:;]*([ -/]*)([@-~])/.exec(text);
  return match !== null && ['$q', '+q', '+Q'].includes(`${match[1]}${match[2]}`);
}

function withoutSizeReports(parameters: string): CsiVerdict {
  const modes = parameters.split(';');
  if (!modes.includes(SIZE_REPORTS)) return { forward: 'all' };
  const rest = modes.filter((mode) => mode !== SIZE_REPORTS);
  return rest.length === 0
    ? { forward: 'nothing' }
    : { forward: 'instead', text: `\u001b[?${rest.join(';')}h` };
}

/** Controls inside a sequence are executed, not part of it. */
function withoutControls(text: string): string {
  return [...text].filter((character) => character >= ' ' && character !== '\u007f').join('');
}
