import type { TomlTable } from './toml-file.ts';
import { isOlder } from './version.ts';

/** From this version on every 1Password reference names its account itself. */
const ACCOUNT_PER_REFERENCE = 'v1alpha5';

/**
 * A workspace table as the current schema means it. Only one older form means something else than it says:
 * `op_account` at the top is the account of every 1Password reference without one
 * (docs/configuration.md#older-files). The file is not touched.
 */
export function upgradeWorkspaceTable(table: TomlTable, version: string): TomlTable {
  const account = table.op_account;
  if (typeof account !== 'string' || !isOlder(version, ACCOUNT_PER_REFERENCE)) return table;
  const { op_account: _moved, ...rest } = table;
  const withEnv = (holder: TomlTable): TomlTable =>
    mapTable(holder, 'env', (env) => addAccount(env, account));
  const withGithub = (holder: TomlTable): TomlTable => mapTable(holder, 'github', withEnv);
  return mapTable(withGithub(withEnv(rest)), 'roles', (roles) =>
    Object.fromEntries(
      Object.entries(roles).map(([key, role]) => [key, isTable(role) ? withGithub(withEnv(role)) : role]),
    ),
  );
}

function addAccount(env: TomlTable, account: string): TomlTable {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      isTable(value) && 'op' in value && !('account' in value) ? { ...value, account } : value,
    ]),
  );
}

function mapTable(holder: TomlTable, key: string, change: (table: TomlTable) => TomlTable): TomlTable {
  const value = holder[key];
  return isTable(value) ? { ...holder, [key]: change(value) } : holder;
}

export function isTable(value: unknown): value is TomlTable {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}
