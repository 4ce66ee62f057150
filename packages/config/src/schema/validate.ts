import type * as z from 'zod';
import { parseToml, type TomlTable } from '../document/index.ts';
import { type ConfigSource, configInvalid, locate } from '../errors.ts';
import { type GlobalConfig, globalConfigSchema } from './global.ts';
import { schemaIssues } from './issues.ts';
import { type WorkspaceConfig, workspaceConfigSchema } from './workspace.ts';

/** A text in the newest form, and where to say what is wrong with it. */
interface Validated {
  text: string;
  source: ConfigSource;
}

/** `config.toml` as its schema means it; null is no file. @throws JackinError `CONFIG_INVALID` */
export function validGlobal(file: Validated | null): GlobalConfig {
  if (file === null) return globalConfigSchema.parse({});
  return valid(file, globalConfigSchema, parseToml(file.text));
}

/** A workspace as its schema means it. @throws JackinError `CONFIG_INVALID` */
export function validWorkspace(file: Validated): WorkspaceConfig {
  return valid(file, workspaceConfigSchema, parseToml(file.text));
}

function valid<T>({ source }: Validated, schema: z.ZodType<T>, table: TomlTable): T {
  const result = schema.safeParse(table);
  if (result.success) return result.data;
  throw configInvalid(source.file, locate(source, schemaIssues(result.error, table)));
}
