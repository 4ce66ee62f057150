import { compareVersions, parseVersion, type SchemaVersion } from '../version.ts';

export interface Feature {
  key: string;
  /** The first version that had it. */
  since: string;
}

/** What came after the first version (docs/schema-timeline.md#role-manifest). */
const AGENTS_SINCE: readonly [agent: string, since: string][] = [
  ['opencode', 'v1alpha3'],
  ['kimi', 'v1alpha4'],
];
const MODELS_SINCE = 'v1alpha5';
const DOCKER_SINCE = 'v1alpha6';

/**
 * What a manifest uses and its own version did not have.
 * @param agents those it has a table for
 */
export function newerFeatures(
  table: Readonly<Record<string, unknown>>,
  agents: readonly string[],
  version: SchemaVersion,
): Feature[] {
  const listed = Array.isArray(table.agents) ? table.agents : [];
  const used: Feature[] = [
    ...AGENTS_SINCE.filter(([agent]) => listed.includes(agent)).map(([agent, since]) => ({
      key: `the agent ${agent}`,
      since,
    })),
    ...agents.map((agent) => ({ key: `[${agent}]`, since: MODELS_SINCE })),
    ...(Object.hasOwn(table, 'docker') ? [{ key: '[docker]', since: DOCKER_SINCE }] : []),
  ];
  return used.filter(({ since }) => {
    const first = parseVersion(since);
    return first !== null && compareVersions(version, first) < 0;
  });
}
