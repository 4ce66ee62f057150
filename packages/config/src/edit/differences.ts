import { isDeepStrictEqual } from 'node:util';
import { isTable, keyText, parseToml, type TomlPath, type TomlTable } from '../document/index.ts';
import { isVariable, shown } from './shown.ts';

/** One value that is another one now; of a list, one element that came or went. */
export interface SettingChange {
  /** As it is written in the file, e.g. `roles.smith.env.TOKEN`. */
  key: string;
  /** Null: it was not there. Masked as everything that is shown. */
  before: unknown;
  /** Null: it is not there any more. */
  after: unknown;
}

/** What two texts of one file mean differently. Both are TOML; an empty text means nothing. */
export function differences(before: string, after: string): SettingChange[] {
  const [old, now] = [leavesOf(parseToml(before)), leavesOf(parseToml(after))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((key) => key !== 'version')
    .flatMap((key) => changesOf(key, old.get(key), now.get(key)));
}

export interface Leaf {
  path: string[];
  value: unknown;
}

/** Every value of a table that is no table itself, and every variable, by its key. */
export function leavesOf(table: TomlTable, above: string[] = []): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  for (const [name, value] of Object.entries(table)) {
    const path = [...above, name];
    if (isTable(value) && !isVariable(path)) {
      for (const [key, leaf] of leavesOf(value, path)) leaves.set(key, leaf);
    } else leaves.set(keyText(path), { path, value });
  }
  return leaves;
}

function changesOf(key: string, old: Leaf | undefined, now: Leaf | undefined): SettingChange[] {
  if (isDeepStrictEqual(old?.value, now?.value)) return [];
  const path = (old ?? now)?.path as TomlPath;
  const [before, after] = [old?.value, now?.value];
  if (!isListOrNothing(before) || !isListOrNothing(after)) {
    return [{ key, before: shownOrNull(path, before), after: shownOrNull(path, after) }];
  }
  const gone = without(before ?? [], after ?? []).map((item) => ({
    key,
    before: shown(path, item),
    after: null,
  }));
  const came = without(after ?? [], before ?? []).map((item) => ({
    key,
    before: null,
    after: shown(path, item),
  }));
  return [...gone, ...came];
}

function isListOrNothing(value: unknown): value is unknown[] | undefined {
  return value === undefined || Array.isArray(value);
}

function without(items: unknown[], others: unknown[]): unknown[] {
  return items.filter((item) => !others.some((other) => isDeepStrictEqual(item, other)));
}

function shownOrNull(path: TomlPath, value: unknown): unknown {
  return value === undefined ? null : shown(path, value);
}
