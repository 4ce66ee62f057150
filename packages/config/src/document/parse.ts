import { parse } from 'smol-toml';
import type { TomlTable } from './types.ts';

export const BOM = '\uFEFF';

/**
 * The meaning of a text, with or without a byte order mark.
 * @throws TomlError of smol-toml, with line and column; also for keys such as `__proto__`
 */
export function parseToml(text: string): TomlTable {
  return parse(withoutBom(text), { unsafeKeyBehaviour: 'throw', integersAsBigInt: 'asNeeded' });
}

export function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(BOM.length) : text;
}
