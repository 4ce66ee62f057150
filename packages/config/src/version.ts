/** The newest versions this build reads (docs/schema-timeline.md). */
export const CONFIG_VERSION = 'v1alpha10';
export const WORKSPACE_VERSION = 'v1alpha9';
export const MANIFEST_VERSION = 'v1alpha6';

/** A file without `version`. */
export const LEGACY = 'legacy';

type Stage = 'legacy' | 'alpha' | 'beta' | 'stable';

export interface SchemaVersion {
  text: string;
  major: number;
  stage: Stage;
  minor: number;
}

const PATTERN = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STAGES: readonly Stage[] = ['legacy', 'alpha', 'beta', 'stable'];

/** `vN`, `vNalphaM`, `vNbetaM` or `legacy`; null for anything else, leading zeros and zero included. */
export function parseVersion(text: string): SchemaVersion | null {
  if (text === LEGACY) return { text, major: 0, stage: 'legacy', minor: 0 };
  const match = PATTERN.exec(text);
  if (match === null) return null;
  const stage = (match[2] ?? 'stable') as Stage;
  return { text, major: Number(match[1]), stage, minor: Number(match[3] ?? 0) };
}

/** Negative when `a` is older: legacy, then by major number, alpha before beta before stable. */
export function compareVersions(a: SchemaVersion, b: SchemaVersion): number {
  return a.major - b.major || STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage) || a.minor - b.minor;
}
