import type { World } from './world.ts';

const SETTLE_MS = 5_000;
const POLL_MS = 50;

/** Waits, bounded, until nothing of the instance runs. Its end is another process's, so it can only be polled. */
export async function untilStopped(world: World, base: string): Promise<void> {
  const deadline = world.clock.monotonicMs() + SETTLE_MS;
  for (;;) {
    const state = (await world.lookAt(base).catch(() => null))?.observation.container.state;
    if (state !== 'running' || world.clock.monotonicMs() >= deadline) return;
    await world.clock.sleep(POLL_MS);
  }
}
