import { JackinError } from '@jackin/core';
import { isTable, keyText, type TomlEdit, type TomlTable } from '../document/index.ts';
import { envSource } from '../env/references.ts';
import type { EnvValue } from '../schema/shared.ts';
import { shown } from './shown.ts';

/** Which variables of a file are meant: those of every session, of one role, and of `gh` in either. */
export interface VariableLayer {
  role: string | null;
  github: boolean;
}

export interface VariableRow {
  /** The table, as it is written in the file. */
  layer: string;
  name: string;
  kind: 'literal' | 'host' | 'op';
  /** The reference; a literal value is never shown. */
  value: string;
  on_demand: boolean;
}

/**
 * A value as it is typed: `$NAME` of this machine, `op://vault/item/field`, or a text (docs/configuration.md#values).
 * @throws JackinError `USAGE` for an account of something else than 1Password
 */
export function typedVariable(
  text: string,
  options: { onDemand: boolean; account: string | null },
): EnvValue {
  const { onDemand, account } = options;
  const demanded = onDemand ? { on_demand: true } : {};
  if (text.startsWith('op://')) {
    return { op: text, ...(account === null ? {} : { account }), ...demanded };
  }
  if (account !== null) {
    throw new JackinError({
      code: 'USAGE',
      message: 'An account belongs to a 1Password reference.',
      hint: 'Write the value as op://vault/item/field, or leave the account out.',
      exitCode: 2,
    });
  }
  return onDemand ? { value: text, ...demanded } : text;
}

export function setVariables(layer: VariableLayer, values: Readonly<Record<string, EnvValue>>): TomlEdit[] {
  return Object.entries(values).map(([name, set]) => ({ path: [...layerPath(layer), name], set }));
}

/**
 * Takes variables out of a file.
 * @throws JackinError `SETTING_NOT_FOUND` listing those that are there: a misspelt name must not pass for one that is gone
 */
export function unsetVariables(
  layer: VariableLayer,
  names: readonly string[],
): (current: TomlTable) => TomlEdit[] {
  const path = layerPath(layer);
  return (current) => {
    const table = path.reduce<unknown>((at, key) => (isTable(at) ? at[key] : undefined), current);
    const known = isTable(table) ? Object.keys(table) : [];
    const missing = names.filter((name) => !known.includes(name));
    if (missing.length > 0) throw settingNotFound(`[${keyText(path)}]`, 'variable', missing, known);
    return names.map((name) => ({ path: [...path, name], remove: true }));
  };
}

interface Holder {
  env?: Readonly<Record<string, EnvValue>> | undefined;
  github?: { env?: Readonly<Record<string, EnvValue>> | undefined } | undefined;
}

/** Every variable of a file, layer by layer; with a role only that one's. */
export function variablesOf(
  file: Holder & { roles: Readonly<Record<string, unknown>> },
  role: string | null,
): VariableRow[] {
  const ofHolder = (holder: Holder, key: string | null): VariableRow[] => [
    ...rowsOf(layerPath({ role: key, github: false }), holder.env),
    ...rowsOf(layerPath({ role: key, github: true }), holder.github?.env),
  ];
  const roles = Object.entries(file.roles).filter(([key]) => role === null || key === role);
  return [
    ...(role === null ? ofHolder(file, null) : []),
    ...roles.flatMap(([key, holder]) => ofHolder(holder as Holder, key)),
  ];
}

function rowsOf(path: string[], env: Holder['env'] = {}): VariableRow[] {
  return Object.entries(env).map(([name, value]) => {
    const source = envSource(value);
    const kind = source.startsWith('literal:') ? 'literal' : source.startsWith('$') ? 'host' : 'op';
    return {
      layer: keyText(path),
      name,
      kind,
      value: kind === 'literal' ? String(shown(['env', name], 'literal')) : source,
      on_demand: typeof value === 'object' && value.on_demand === true,
    };
  });
}

function layerPath({ role, github }: VariableLayer): string[] {
  return [...(role === null ? [] : ['roles', role]), ...(github ? ['github'] : []), 'env'];
}

/** @param where the list that was looked at */
export function settingNotFound(
  where: string,
  what: string,
  missing: readonly string[],
  known: readonly string[],
): JackinError {
  const many = missing.length > 1;
  return new JackinError({
    code: 'SETTING_NOT_FOUND',
    message: `There ${many ? `are no ${what}s` : `is no ${what}`} ${missing.join(', ')} in ${where}.`,
    hint: known.length === 0 ? 'There is none at all. Nothing was changed.' : `There is: ${known.join(', ')}`,
    details: { missing, known },
  });
}
