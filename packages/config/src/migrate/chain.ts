import { compareVersions, LEGACY, parseVersion } from '../version.ts';

/** One version to the next. Whatever the step does not name stays, byte for byte. */
export interface MigrationStep {
  from: string;
  to: string;
  /** What changed, as the timeline says it (docs/schema-timeline.md). */
  summary: string;
  /** The text in the form of `to`; its version is stamped afterwards. */
  apply(text: string): string;
}

export interface MigrationChain {
  /** The newest version. */
  target: string;
  steps: readonly MigrationStep[];
}

/** A step that changes nothing but the version: what came was optional. */
export function restamp(from: string, to: string, summary: string): MigrationStep {
  return { from, to, summary, apply: (text) => text };
}

/** The steps from a version to the newest one; null when none begins there. */
export function stepsFrom(chain: MigrationChain, version: string): MigrationStep[] | null {
  const steps: MigrationStep[] = [];
  for (let at = version; at !== chain.target; at = steps.at(-1)?.to as string) {
    const step = chain.steps.find(({ from }) => from === at);
    if (step === undefined || steps.includes(step)) return null;
    steps.push(step);
  }
  return steps;
}

/** What is wrong with a chain: from `legacy` to its target every step once, forward, without gap or overshoot. */
export function chainFaults({ target, steps }: MigrationChain): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  let at = LEGACY;
  for (const { from, to, summary } of steps) {
    const name = `${from} → ${to}`;
    const [first, second, last] = [parseVersion(from), parseVersion(to), parseVersion(target)];
    if (first === null || second === null || last === null) {
      faults.push(`${name}: not versions`);
      continue;
    }
    if (seen.has(from)) faults.push(`${name}: a second step from ${from}`);
    if (compareVersions(second, first) <= 0) faults.push(`${name}: not forward`);
    if (compareVersions(second, last) > 0) faults.push(`${name}: beyond ${target}`);
    if (from !== at) faults.push(`${name}: a gap, ${at} was reached`);
    if (summary === '') faults.push(`${name}: says nothing`);
    seen.add(from);
    at = to;
  }
  if (at !== target) faults.push(`the last step reaches ${at}, not ${target}`);
  return faults;
}
