const MASK = '[redacted]';
const MIN_SECRET_CHARS = 4;
const MIN_LINE_CHARS = 12;
const secrets = new Set<string>();

/**
 * Registers a value that must never be printed or stored. Values shorter than 4 characters are ignored. Also
 * covers how the value looks inside JSON, a URL and base64, and each long line of a value with several lines.
 */
export function registerSecret(value: string): void {
  const trimmed = value.trim();
  if (trimmed.length < MIN_SECRET_CHARS) return;
  const lines = trimmed.includes('\n')
    ? trimmed.split(/\r?\n/).filter((line) => line.trim().length >= MIN_LINE_CHARS)
    : [];
  for (const form of [trimmed, ...lines]) {
    secrets.add(form);
    secrets.add(JSON.stringify(form).slice(1, -1));
    secrets.add(encodeURIComponent(form.toWellFormed()));
  }
  secrets.add(Buffer.from(value).toString('base64'));
}

/** Text with registered secrets, URL credentials and authorization headers masked. */
export function redact(text: string): string {
  return maskRegistered(text)
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"']*@/gi, `$1${MASK}@`)
    .replace(
      /((?:authorization|x-api-key)["']?\s*[:=]\s*["']?)((?:bearer|basic|token)\s+)?[^\s"',]+/gi,
      `$1${MASK}`,
    )
    .replace(/\b(bearer\s+)[a-z0-9._~+/=-]{8,}/gi, `$1${MASK}`);
}

/** A copy of a JSON-like value in which every string, keys included, passed {@link redact}. */
export function redactDeep(value: unknown): unknown {
  return copyRedacted(value, new Set());
}

function copyRedacted(value: unknown, above: Set<unknown>): unknown {
  if (typeof value === 'string') return redact(value);
  if (value === null || typeof value !== 'object') return value;
  if (above.has(value)) return '[circular]';
  above.add(value);
  try {
    if (Array.isArray(value)) return value.map((item) => copyRedacted(item, above));
    if ('toJSON' in value && typeof value.toJSON === 'function') return copyRedacted(value.toJSON(), above);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [redact(key), copyRedacted(item, above)]),
    );
  } finally {
    above.delete(value);
  }
}

/**
 * Masks the union of all matches in one pass. Replacing secret after secret would leave the tail of one that
 * overlaps another, and would search in masks already written.
 */
function maskRegistered(text: string): string {
  const ranges: [start: number, end: number][] = [];
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
      ranges.push([at, at + secret.length]);
    }
  }
  if (ranges.length === 0) return text;
  ranges.sort((a, b) => a[0] - b[0]);
  let result = '';
  let done = 0;
  for (const [start, end] of ranges) {
    if (start >= done) result += text.slice(done, start) + MASK;
    done = Math.max(done, end);
  }
  return result + text.slice(done);
}
