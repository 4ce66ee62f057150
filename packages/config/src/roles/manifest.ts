import { dirname } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import type * as z from 'zod';
import { type FieldIssue, locate } from '../errors.ts';
import { schemaIssues } from '../schema/issues.ts';
import { compareVersions, LEGACY, MANIFEST_VERSION, parseVersion, type SchemaVersion } from '../version.ts';
import { roleInvalid, roleVersion } from './errors.ts';
import { variableIssues } from './manifest-env.ts';
import { type ManifestFields, manifestSchemaFor } from './manifest-schema.ts';
import { type Feature, newerFeatures } from './manifest-versions.ts';
import { unsupportedIn } from './unsupported.ts';

export const ROLE_MANIFEST = 'jackin.role.toml';

export interface RoleManifest {
  /** As the file says it; `legacy` without one. */
  version: string;
  /** Relative to the role's directory. */
  dockerfile: string;
  agents: string[];
  display_name: string | null;
  /** Agent → model. */
  models: Record<string, string>;
  /** Hook → script, relative to the role's directory. */
  hooks: NonNullable<ManifestFields['hooks']>;
  /** Keys that are understood and that this version cannot honour, such as `hooks.setup_once`. */
  unsupported: string[];
}

/**
 * A role manifest (docs/roles.md#manifest). Unknown fields are refused: a misspelt limit must not be taken for none. A
 * file of an older version is read as long as it uses nothing that came later.
 * @param text the content, without an end-of-line rule; a byte order mark is allowed
 * @throws JackinError `ROLE_INVALID` with file, key and line, `MANIFEST_VERSION`
 */
export function parseRoleManifest(file: string, text: string): RoleManifest {
  const { table, version } = readVersion(file, text);
  const { schema, agents } = manifestSchemaFor(table);
  refuseNewerFeatures(file, table, newerFeatures(table, agents, version));
  const parsed = schema.safeParse(table);
  const found = parsed.success
    ? variableIssues(parsed.data as ManifestFields)
    : parsed.error.issues.flatMap((issue) => issuesOf(issue, table));
  if (!parsed.success || found.length > 0) {
    throw roleInvalid(file, locate({ file, text, prefix: [] }, found), found[0]?.fix ?? 'Correct the file.');
  }
  const data = parsed.data as ManifestFields & Record<string, unknown>;
  return {
    version: version.text,
    dockerfile: data.dockerfile,
    agents: data.agents,
    display_name: data.identity?.name ?? null,
    models: Object.fromEntries(
      agents.flatMap((id): [string, string][] => {
        const { model } = data[id] as { model?: string };
        return model === undefined ? [] : [[id, model]];
      }),
    ),
    hooks: data.hooks ?? {},
    unsupported: unsupportedIn(data),
  };
}

function parseTable(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text, { unsafeKeyBehaviour: 'throw' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    throw roleInvalid(
      file,
      { key: '', reason: `not valid TOML, ${reason} (column ${error.column})`, line: error.line },
      'Correct the file.',
    );
  }
}

/**
 * The content and version of a manifest, before anything else of it is looked at: of a version nobody knows every
 * other message would be wrong.
 * @throws JackinError `ROLE_INVALID` for what is no TOML, `ROLE_VERSION`
 */
export function readVersion(
  file: string,
  text: string,
): { table: Record<string, unknown>; version: SchemaVersion } {
  const table = parseTable(file, text.replace(/^\uFEFF/, ''));
  const given = table.version ?? LEGACY;
  const known = parseVersion(MANIFEST_VERSION);
  const version = typeof given === 'string' ? parseVersion(given) : null;
  if (version === null || known === null) {
    throw roleVersion(
      file,
      `has version ${JSON.stringify(given)}, which is none`,
      `Write version = ${JSON.stringify(MANIFEST_VERSION)} as its first line.`,
      { version: table.version },
    );
  }
  if (compareVersions(version, known) > 0) {
    throw roleVersion(
      file,
      `has version ${JSON.stringify(given)}; this jackin understands up to ${JSON.stringify(MANIFEST_VERSION)}`,
      'Upgrade jackin. Nothing was changed.',
      { version: given },
    );
  }
  return { table, version };
}

function refuseNewerFeatures(file: string, { version }: Record<string, unknown>, [feature]: Feature[]): void {
  if (feature === undefined) return;
  const stamped = version === undefined ? 'has no version' : `has version ${JSON.stringify(version)}`;
  throw roleVersion(
    file,
    `${stamped} and uses ${feature.key}, which came with ${JSON.stringify(feature.since)}`,
    `Bring it up to date with: jackin role migrate ${dirname(file)}`,
    { version, key: feature.key, needs: feature.since },
  );
}

function issuesOf(issue: z.core.$ZodIssue, table: unknown): FieldIssue[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...path, key],
      reason: 'unknown field',
      fix: 'Correct its name, or take it out.',
    }));
  }
  if (!issue.message.startsWith('Invalid')) return [{ path, reason: issue.message }];
  return schemaIssues({ issues: [issue] } as unknown as z.ZodError, table);
}
