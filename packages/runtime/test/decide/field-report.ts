import { type classifyExit, decideExit, planRestore, type RestorePlan } from '../../src/decide/index.ts';
import type { InstanceFacts } from '../../src/index.ts';
import { CALL, type FactChange, factsOf, SESSION } from './fixtures.ts';

/** What the field reports about the docker backend share. */
export const GONE = { container: { state: 'missing' } } as const;

export const docker = (change: FactChange) => factsOf('docker', change);

export const restore = (facts: InstanceFacts, startFailure: string | null = null): RestorePlan =>
  planRestore({ ...CALL, facts, session: SESSION, startFailure });

/** The exit under policy `clean` with nobody to ask: what would delete most. */
export const exitWith = (
  classification: ReturnType<typeof classifyExit>,
  otherSessionsAlive: 'yes' | 'no' | 'unknown' = 'no',
) =>
  decideExit({
    classification,
    policy: { value: 'clean', source: 'workspace' },
    canAsk: false,
    isolated: [],
    otherSessionsAlive,
    choice: null,
  });
