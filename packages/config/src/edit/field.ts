import type { TomlEdit, TomlPath } from '../document/index.ts';

/** The edit of one field: none for what stays, a removal for null. */
export function field(path: TomlPath, value: unknown): TomlEdit[] {
  if (value === undefined) return [];
  return [value === null ? { path, remove: true } : { path, set: value }];
}
