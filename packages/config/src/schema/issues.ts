import type * as z from 'zod';
import type { FieldIssue } from '../errors.ts';

/** Values below these keys may be secrets and are never shown. */
const SECRET = 'env';
const SHOWN_LENGTH = 60;

/** What a schema found, in the words of somebody who edits the file. */
export function schemaIssues(error: z.ZodError, input: unknown): FieldIssue[] {
  return error.issues.map((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    const value = path.reduce<unknown>((at, part) => (at as Record<string | number, unknown>)?.[part], input);
    return { path, ...described(issue, path, value) };
  });
}

type Described = Pick<FieldIssue, 'reason'> & { fix: string };

function described(issue: z.core.$ZodIssue, path: (string | number)[], value: unknown): Described {
  const key = path.join('.');
  const shown = path.includes(SECRET) ? null : show(value);
  const found = shown === null ? '' : `, found ${shown}`;
  switch (issue.code) {
    case 'invalid_value': {
      const allowed = issue.values.map((one) => JSON.stringify(one));
      if (value === undefined) return missing(key, allowed[0] ?? '…');
      const choice = renamed(path.at(-1), value) ?? allowed.join(', ');
      return {
        reason: `expected one of ${allowed.join(', ')}${found}`,
        fix: `Set ${key} to ${choice}${choice.includes(',') ? ' (one of them)' : ''}.`,
      };
    }
    case 'invalid_type': {
      const { name, example } = TYPES[issue.expected] ?? { name: issue.expected, example: '…' };
      if (value === undefined) return missing(key, example);
      const reason = isDefault(issue)
        ? `expected ${name}${found === '' || name === 'a table' ? `, found ${kindOf(value)}` : found}`
        : issue.message;
      return { reason, fix: `Write ${assignment(path, example)}.` };
    }
    case 'too_small': {
      if (issue.origin === 'string' || issue.origin === 'array')
        return { reason: 'is empty', fix: `Give ${key} a value, or remove it.` };
      const bound = `${issue.inclusive === true ? 'at least' : 'more than'} ${String(issue.minimum)}`;
      return { reason: `must be ${bound}${found}`, fix: `Set ${key} to ${bound}.` };
    }
    case 'invalid_key': {
      const reason = issue.issues[0]?.message ?? 'not a key that can be used';
      return { reason, fix: `Rename ${key}.` };
    }
    case 'invalid_format': {
      if (issue.format === 'starts_with' && 'prefix' in issue) {
        const prefix = JSON.stringify(issue.prefix);
        return { reason: `must start with ${prefix}`, fix: `Write ${key} = ${prefix}….` };
      }
      return { reason: `${issue.message}${found}`, fix: `Correct ${key}.` };
    }
    default:
      if (value === undefined) return missing(key, '…');
      return { reason: `${issue.message}${found}`, fix: `Correct ${key}.` };
  }
}

const TYPES: Record<string, { name: string; example: string }> = {
  string: { name: 'a text', example: '"…"' },
  number: { name: 'a number', example: '1' },
  int: { name: 'a whole number', example: '1' },
  boolean: { name: 'true or false', example: 'true' },
  array: { name: 'a list', example: '["…"]' },
  object: { name: 'a table', example: '{ … }' },
  record: { name: 'a table', example: '{ … }' },
};

function missing(key: string, example: string): Described {
  return { reason: 'is missing', fix: `Add ${key} = ${example}.` };
}

function assignment(path: (string | number)[], example: string): string {
  return typeof path.at(-1) === 'number' ? `${example} there` : `${path.join('.')} = ${example}`;
}

/** A word that older files used and a migration would have replaced. */
function renamed(key: string | number | undefined, value: unknown): string | null {
  return key === 'dirty_exit_policy' && value === 'discard'
    ? '"clean", which is what "discard" is called now'
    : null;
}

function isDefault({ message }: z.core.$ZodIssue): boolean {
  return message.startsWith('Invalid input');
}

function show(value: unknown): string | null {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value);
  }
  return ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : null;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  return typeof value === 'object' ? 'a table' : `a ${typeof value}`;
}
