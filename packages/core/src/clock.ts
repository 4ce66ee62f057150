import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './ports.ts';

/** The real time. Tests and simulations pass their own {@link Clock}. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};
