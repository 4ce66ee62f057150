import * as z from 'zod';

/** Agents a manifest may have a table for without listing them (docs/agents.md#registry). */
const MANIFEST_AGENTS = [
  'claude',
  'codex',
  'opencode',
  'amp',
  'gemini',
  'copilot',
  'auggie',
  'kimi',
  'grok',
  'shell',
] as const;

const agentId = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'not an agent id, such as "claude"');
const relativePath = z.string().min(1, 'expected a path inside the role');
const agentTable = z.strictObject({ model: z.string().min(1, 'expected the name of a model').optional() });

const variable = z.strictObject({
  default: z.string().optional(),
  interactive: z.boolean().optional(),
  skippable: z.boolean().optional(),
  prompt: z.string().min(1, 'expected the text of a question').optional(),
  options: z.array(z.string()).min(1, 'empty: name the values, or leave it out').optional(),
  depends_on: z.array(z.string()).optional(),
});

const fields = {
  version: z.string().optional(),
  dockerfile: z.string({ error: 'expected the path of the Dockerfile, for example "Dockerfile"' }).min(1),
  agents: z
    .array(agentId)
    .min(1, 'empty: name at least one agent, or leave it out for ["claude"]')
    .default(['claude']),
  identity: z.strictObject({ name: z.string().min(1, 'expected a name').optional() }).optional(),
  hooks: z
    .strictObject({
      setup_once: relativePath.optional(),
      source: relativePath.optional(),
      preflight: relativePath.optional(),
    })
    .optional(),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable'), variable)
    .optional(),
  docker: z
    .strictObject({
      min_profile: z.enum(['locked', 'hardened', 'standard', 'compat']).optional(),
      dind: z.enum(['none', 'rootless', 'privileged', 'custom']).optional(),
      allowed_hosts: z.array(z.string().regex(/^[^\s/]+$/, 'expected a host name')).optional(),
      capabilities_add: z
        .array(z.string().regex(/^(CAP_)?[A-Z][A-Z_]*$/, 'expected the name of a capability, in capitals'))
        .optional(),
    })
    .optional(),
};

export type ManifestFields = z.infer<z.ZodObject<typeof fields>>;

/** The schema for one manifest, which depends on the agents it lists: each of them may have a table. */
export function manifestSchemaFor(table: Readonly<Record<string, unknown>>) {
  const listed = Array.isArray(table.agents) ? table.agents.filter((id) => typeof id === 'string') : [];
  // What is no table of an agent goes to the strict schema, which names it.
  const agents = [...new Set<string>([...MANIFEST_AGENTS, ...listed])].filter(
    (id) => !Object.hasOwn(fields, id) && Object.hasOwn(table, id),
  );
  const schema = z.strictObject({ ...fields, ...Object.fromEntries(agents.map((id) => [id, agentTable])) });
  return { schema, agents };
}
