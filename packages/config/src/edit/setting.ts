import { JackinError } from '@jackin/core';
import { isTable, parseToml } from '../document/index.ts';

/**
 * A key as it is written in the file, e.g. `roles."my role".path`, as its parts.
 * @throws JackinError `USAGE`
 */
export function settingPath(key: string): string[] {
  const path: string[] = [];
  try {
    if (/[\n=#]/.test(key)) throw new Error('more than a key');
    for (let at: unknown = parseToml(`${key} = 0`); isTable(at); at = at[path.at(-1) as string]) {
      path.push(Object.keys(at)[0] as string);
    }
  } catch {
    throw new JackinError({
      code: 'USAGE',
      message: `${JSON.stringify(key)} is not a key.`,
      hint: 'Write it as in the file, for example: attach.prefix or roles."my role".path',
      exitCode: 2,
    });
  }
  return path;
}

/** A value as it is typed: a number, true or false, a list or a table where the text is one; else the text itself. */
export function settingValue(text: string): unknown {
  try {
    const { value, ...others } = parseToml(`value = ${text}`);
    return Object.keys(others).length > 0 || value instanceof Date ? text : value;
  } catch {
    return text;
  }
}
