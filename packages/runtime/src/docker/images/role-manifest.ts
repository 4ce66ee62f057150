import { agentRegistry } from '@jackin/agents';
import { compareVersions, parseVersion } from '@jackin/config';
import { JackinError } from '@jackin/core';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { type RoleIssue, roleInvalid } from './role-errors.ts';

export const ROLE_MANIFEST = 'jackin.role.toml';
/** The one version of the role manifest this build reads. */
export const ROLE_VERSION = 'v1alpha6';

const AGENT_ID = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'not an agent id');
const agentTable = z.strictObject({ model: z.string().min(1).optional() });

const variable = z.strictObject({
  default: z.string().optional(),
  interactive: z.boolean().optional(),
  skippable: z.boolean().optional(),
  prompt: z.string().optional(),
  options: z.array(z.string()).optional(),
  depends_on: z.array(z.string()).optional(),
});

const base = {
  version: z.literal(ROLE_VERSION),
  dockerfile: z.string({ error: 'expected the path of the Dockerfile, for example "Dockerfile"' }).min(1),
  agents: z
    .array(AGENT_ID)
    .min(1, 'empty: name at least one agent, or leave it out for ["claude"]')
    .default(['claude']),
  identity: z.strictObject({ name: z.string().min(1).optional() }).optional(),
  hooks: z
    .strictObject({
      setup_once: z.string().optional(),
      source: z.string().optional(),
      preflight: z.string().optional(),
    })
    .optional(),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable'), variable)
    .optional(),
  docker: z
    .strictObject({
      min_profile: z.enum(['locked', 'hardened', 'standard', 'compat']).optional(),
      dind: z.enum(['none', 'rootless', 'privileged', 'custom']).optional(),
      allowed_hosts: z.array(z.string()).optional(),
      capabilities_add: z.array(z.string()).optional(),
    })
    .optional(),
};

export interface RoleManifest {
  /** Relative to the role's directory. */
  dockerfile: string;
  agents: string[];
  displayName: string | null;
  /** Agent → model. */
  models: Record<string, string>;
  /** Keys that are understood and that this version cannot honour, such as `hooks.setup_once`. */
  unsupported: string[];
}

/**
 * A role manifest (docs/configuration.md#role-manifest). Unknown fields are refused: a misspelt limit must not be
 * taken for none.
 * @throws JackinError `ROLE_INVALID`, `ROLE_VERSION`
 */
export function parseRoleManifest(file: string, text: string): RoleManifest {
  const table = parseTable(file, text);
  checkVersion(file, table.version);
  const listed = Array.isArray(table.agents) ? table.agents : [];
  const agents = [
    ...new Set([...agentRegistry.map(({ id }) => id), ...listed.filter((id) => typeof id === 'string')]),
  ];
  // What is no table of an agent goes to the strict schema, which names it.
  const agentTables = agents.filter((id) => !Object.hasOwn(base, id) && Object.hasOwn(table, id));
  const schema = z.strictObject({
    ...base,
    ...Object.fromEntries(agentTables.map((id) => [id, agentTable])),
  });
  const parsed = schema.safeParse(table);
  if (!parsed.success) {
    throw roleInvalid(file, parsed.error.issues.flatMap(issuesOf), 'Correct the file.');
  }
  const { data } = parsed;
  const models = agentTables.flatMap((id): [string, string][] => {
    const { model } = agentTable.parse(table[id]);
    return model === undefined ? [] : [[id, model]];
  });
  return {
    dockerfile: data.dockerfile,
    agents: data.agents,
    displayName: data.identity?.name ?? null,
    models: Object.fromEntries(models),
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
      `${file}:${error.line}:${error.column}`,
      { key: '', reason: `not valid TOML, ${reason}` },
      'Correct the file.',
    );
  }
}

/** Before anything else: of another version every other message would be wrong. */
function checkVersion(file: string, version: unknown): void {
  if (version === ROLE_VERSION) return;
  const known = parseVersion(ROLE_VERSION);
  const found = typeof version === 'string' ? parseVersion(version) : null;
  const newer = found !== null && known !== null && compareVersions(found, known) > 0;
  const told = version === undefined ? 'no version' : `version ${JSON.stringify(version)}`;
  throw new JackinError({
    code: 'ROLE_VERSION',
    message: `${file} has ${told}; this jackin understands ${JSON.stringify(ROLE_VERSION)}.`,
    hint: newer
      ? 'Upgrade jackin. Nothing was changed.'
      : `Write version = ${JSON.stringify(ROLE_VERSION)} as its first line; the fields of older versions are the same.`,
    details: { file, version: version ?? null, known: ROLE_VERSION },
  });
}

function issuesOf(issue: z.core.$ZodIssue): RoleIssue[] {
  const at = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ key: [...at, key].join('.'), reason: 'unknown field' }));
  }
  return [{ key: at.join('.'), reason: issue.message }];
}

/** Only what asks for more, or for less, than every instance gets anyway. */
function unsupportedIn(manifest: {
  hooks?: Record<string, string | undefined> | undefined;
  env?: Record<string, unknown> | undefined;
  docker?: z.infer<typeof base.docker>;
}): string[] {
  const { hooks = {}, env = {}, docker = {} } = manifest;
  const { min_profile: profile, dind, allowed_hosts: hosts = [], capabilities_add: added = [] } = docker;
  return [
    ...Object.keys(hooks).map((name) => `hooks.${name}`),
    ...Object.keys(env).map((name) => `env.${name}`),
    ...(profile === 'locked' || profile === 'hardened' ? ['docker.min_profile'] : []),
    ...(dind === undefined || dind === 'none' ? [] : ['docker.dind']),
    ...(hosts.length === 0 ? [] : ['docker.allowed_hosts']),
    ...(added.length === 0 ? [] : ['docker.capabilities_add']),
  ];
}
