/** How far down a session has to be brought back from: the tiers of docs/status-and-causes.md#ladder. */
export const CASES = [0, 1, 2] as const;
export type Case = (typeof CASES)[number];

export const CASE_NAMES: Record<Case, string> = {
  0: 'tier 0, the container runs',
  1: 'tier 1, the container was killed',
  2: 'tier 2, the container was removed',
};

/** One way to bring something back. */
export interface Subject {
  name: string;
  /** The image its containers are made of. */
  image: string;
  /** Brings the container into the state of the case; not measured. */
  prepare(one: Case): Promise<void>;
  /** What is measured: until it runs. Throws when it does not. */
  comeBack(one: Case): Promise<void>;
}
