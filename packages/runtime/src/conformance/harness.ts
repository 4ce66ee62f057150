import type { Backend, InstanceRef, Inventory, StartContext } from '../backend.ts';

/** What one adapter's tests provide, so that the same suite can run against it. One harness is one instance. */
export interface BackendHarness {
  backend: Backend;
  /** The instance with what has been recorded so far. */
  ref(): InstanceRef;
  /** Prepares what the executor prepares before `create`: manifest, directories, `agent.toml`. */
  prepare(): Promise<void>;
  context(signal: AbortSignal): StartContext;
  /** Records what `start` or `remove` changed, as the executor does. */
  recordStart(started: Awaited<ReturnType<Backend['start']>>): void;
  recordRemoval(): void;
  /** Kills the container and everything in it, as a crash does; resolves when it is dead. */
  crash(): Promise<void>;
  /** Something that could be mistaken for the instance but is not ours. */
  foreign(): Promise<{ ref: InstanceRef; untouched(): Promise<boolean> }>;
  /** What `observe` answers when the engine cannot be looked at. */
  observeUnreachable(): Promise<Inventory>;
  /** Are the instance's own files all there? */
  filesIntact(): Promise<boolean>;
  dispose(): Promise<void>;
}

export type MakeHarness = () => Promise<BackendHarness>;

/** The two functions of a test runner the suite needs; it brings none itself. */
export interface TestRunner {
  describe(title: string, body: () => void): void;
  it(title: string, body: () => Promise<void>): void;
}

/** Runs `body` with a fresh instance and cleans up, whatever happens. */
export function withHarness(make: MakeHarness, body: (harness: BackendHarness) => Promise<void>) {
  return async (): Promise<void> => {
    const harness = await make();
    try {
      await body(harness);
    } finally {
      await harness.dispose();
    }
  };
}

const CALL_MS = 30_000;

export function freshSignal(): AbortSignal {
  return AbortSignal.timeout(CALL_MS);
}

/** The instance as the backend sees it now. */
export async function observed({ backend, ref }: BackendHarness, other?: InstanceRef) {
  const subject = other ?? ref();
  const inventory = await backend.observe([subject], freshSignal());
  return inventory.instances.get(subject.instance_id);
}

export async function launched(harness: BackendHarness): Promise<void> {
  await harness.prepare();
  await harness.backend.create(harness.context(freshSignal()));
  harness.recordStart(await harness.backend.start(harness.context(freshSignal())));
}
