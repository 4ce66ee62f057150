import { redact } from '@jackin/core';
import { isTable, type TomlPath } from '../document/index.ts';
import { envSource } from '../env/references.ts';

/** In place of a text that may be a secret. */
const HIDDEN = '***';

const ENV = 'env';
const SECRET_NAME = /token|secret|passw|credential|api_?key|private_?key/i;

/** Whether what lies at a path is a variable: its value is shown as a reference, or not at all. */
export function isVariable(path: TomlPath): boolean {
  return path.length > 1 && path.at(-2) === ENV;
}

/**
 * A configured value as it may be printed (docs/configuration.md#what-is-shown): references as they are written, a
 * literal value of a variable never, nor what is called a secret by its key, nor a password in an address.
 */
export function shown(path: TomlPath, value: unknown): unknown {
  if (isVariable(path)) return shownVariable(value);
  if (typeof value === 'string') return SECRET_NAME.test(String(path.at(-1))) ? HIDDEN : redact(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map((item, at) => shown([...path, at], item));
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shown([...path, key], item)]));
}

function shownVariable(value: unknown): unknown {
  if (typeof value === 'string') return envSource(value).startsWith('$') ? value : HIDDEN;
  if (!isTable(value)) return HIDDEN;
  const { op, account, value: text, on_demand: onDemand } = value;
  return {
    ...(typeof op === 'string' ? { op } : {}),
    ...(typeof account === 'string' ? { account } : {}),
    ...(text === undefined ? {} : { value: shownVariable(text) }),
    ...(typeof onDemand === 'boolean' ? { on_demand: onDemand } : {}),
  };
}
