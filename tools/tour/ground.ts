/** What a resume has to say and show. */
export interface Return {
  tier: number;
  didNotReturn: string[];
}

/** Something that ends the session from outside. */
export interface Loss {
  title: string;
  /** Does it, says what was done, and throws TourFailure unless it happened. */
  happen(base: string): Promise<void>;
  status: string;
  cause: string | null;
  comeBack: string;
  back: Return;
}

/** What the session of a tour runs on: what differs between the backends. */
export interface Ground {
  backend: 'docker' | 'standalone';
  because: string;
  /** What it isolates, and what it does not. */
  isolation: string[];
  /** How long a first load may take, in milliseconds. */
  loadLimitMs: number;
  /** Lines to type beside those that every session gets, and what answers them. */
  typed: [line: string, answer: string][];
  /** What shows that the container's own files are there, or that they are not. */
  layer(back: Return): [line: string, answer: string][];
  losses: Loss[];
  afterKeep: Return;
  /** What a keep left, in a sentence. */
  kept: string;
  runs(base: string): Promise<boolean>;
  /** What the backend still has of the session: nothing after a keep but what it keeps, nothing at all after a clean-up. */
  remains(base: string): Promise<string[]>;
  keeps(base: string): string[];
}
