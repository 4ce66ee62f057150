/** Where a value is: keys, and positions in arrays. */
export type TomlPath = readonly (string | number)[];

/**
 * One change. `append` is to an array or to an array of tables and makes it when there is none. Removing what is not
 * there changes nothing. With `keepComment` the comment at the end of a removed line stays as a line of its own.
 */
export type TomlEdit =
  | { path: TomlPath; set: unknown }
  | { path: TomlPath; remove: true; keepComment?: true }
  | { path: TomlPath; append: unknown };

export type TomlTable = Record<string, unknown>;

export function isTable(value: unknown): value is TomlTable {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}

/** What TOML may write as `[[sections]]`. An empty array is not. */
export function isTableArray(value: unknown): value is TomlTable[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTable);
}
