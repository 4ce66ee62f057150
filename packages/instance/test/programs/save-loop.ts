/** Updates one instance as fast as it can, saying one line per round, until it is killed or has done N rounds. */

import { resolvePaths, systemClock } from '@jackin/core';
import { createInstanceStore, type Manifest } from '@jackin/instance';

const [home, base, rounds] = process.argv.slice(2) as [string, string, string];
const paths = resolvePaths({ HOME: home, JACKIN_HOME_DIR: `${home}/state` });
const store = createInstanceStore({ paths, clock: systemClock, events: () => undefined, lockWaitMs: 60_000 });
for (let round = 0; round < Number(rounds); round += 1) {
  const status: Manifest['status'] = round % 2 === 0 ? 'running' : 'active';
  await store.update(base, (manifest) => ({ ...manifest, status, rounds: Number(manifest.rounds ?? 0) + 1 }));
  process.stdout.write(`${round}\n`);
}
