import type { ProcessIdentity } from '@jackin/core';

/** What a keeper says to everyone who connects, as soon as it knows. */
export type KeeperAnswer = { dir: string } | { error: string };

/**
 * Where the keeper of this run listens: an abstract socket. The kernel lets only one have it, and nothing of it is
 * left when its process dies.
 */
export function keeperAddress(run: ProcessIdentity): string {
  return `\0jackin-lab-keeper-${run.pid}-${run.start_time}`;
}
