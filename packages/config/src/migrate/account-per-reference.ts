import { editToml, isTable, parseToml, type TomlEdit, type TomlTable } from '../document/index.ts';

/**
 * The workspace's `op_account` becomes the `account` of every 1Password reference that names none; plain texts stay as
 * they are (docs/schema-timeline.md#workspaces).
 */
export function accountPerReference(text: string): string {
  const table = parseToml(text);
  const account = table.op_account;
  if (typeof account !== 'string' || account === '') return text;
  const references = [
    ...referencesIn(table, []),
    ...tablesIn(table.roles).flatMap(([role, value]) => referencesIn(value, ['roles', role])),
  ];
  return editToml(text, [
    ...references.map((path): TomlEdit => ({ path: [...path, 'account'], set: account })),
    { path: ['op_account'], remove: true, keepComment: true },
  ]);
}

/** Those of `env` and `github.env`. */
function referencesIn(holder: TomlTable, at: string[]): string[][] {
  const github = isTable(holder.github) ? holder.github.env : undefined;
  const layers: [string[], unknown][] = [
    [[...at, 'env'], holder.env],
    [[...at, 'github', 'env'], github],
  ];
  return layers.flatMap(([path, env]) =>
    tablesIn(env)
      .filter(([, value]) => 'op' in value && !('account' in value))
      .map(([name]) => [...path, name]),
  );
}

function tablesIn(value: unknown): [string, TomlTable][] {
  if (!isTable(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, TomlTable] => isTable(entry[1]));
}
