import { lineOf } from './document/index.ts';
import { leavesOf } from './edit/differences.ts';
import { shown } from './edit/shown.ts';
import type { ConfigSource } from './errors.ts';

/** One value that counts, and who said so. */
export interface Setting {
  /** As it is written in the file. */
  key: string;
  /** Masked as everything that is shown (docs/configuration.md#what-is-shown). */
  value: unknown;
  source: 'file' | 'default';
  /** Where it is written; null for a default, and where the line is not known. */
  line: number | null;
}

/**
 * Every value of one file as it counts, defaults included, by its key.
 * @param config what the schema made of the file
 * @param source null: there is no file
 */
export function settingsOf(config: object, source: ConfigSource | null | undefined): Setting[] {
  const leaves = leavesOf(config as Record<string, unknown>);
  return [...leaves]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, { path, value }]): Setting[] => {
      if (value === undefined) return [];
      const line = source == null ? null : lineOf(source.text, [...source.prefix, ...path]);
      return [{ key, value: shown(path, value), source: line === null ? 'default' : 'file', line }];
    });
}
