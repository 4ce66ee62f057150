import { isTable } from './types.ts';

/** A value as TOML writes it on one line. */
export function literal(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return number(value);
  }
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (!isTable(value)) throw new TypeError(`TOML has no ${value === null ? 'null' : typeof value}`);
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  if (entries.length === 0) return '{}';
  return `{ ${entries.map(([key, entry]) => `${keyText([key])} = ${literal(entry)}`).join(', ')} }`;
}

/** A dotted key, each part quoted where it has to be. */
export function keyText(path: readonly string[]): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : quoted(part))).join('.');
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const text = String(value);
  // A whole number that an integer could not hold exactly is meant as a float.
  return Number.isSafeInteger(value) || /[.e]/.test(text) ? text : `${text}.0`;
}

const SHORT: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('half of a surrogate pair has no place in TOML');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these have to be escaped
  const escaped = text.replace(/["\\\u0000-\u001f\u007f]/g, (character) => {
    return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}
