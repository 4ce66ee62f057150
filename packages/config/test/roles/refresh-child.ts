import { resolvePaths, systemClock } from '@jackin/core';
import { gitSource } from '../../src/roles/git-source.ts';
import { refreshRepository } from '../../src/roles/repository.ts';

/** Refreshes one repository as another process does, and prints what it got and how often it asked. */
const [address = '', ttl = '0'] = process.argv.slice(2);
let asked = 0;
const { commit, dir } = await refreshRepository(gitSource('r', address), null, {
  paths: resolvePaths(process.env),
  clock: systemClock,
  events: (event) => {
    if (event.type === 'stage' && event.state === 'started') asked += 1;
  },
  ttlSeconds: Number(ttl),
});
process.stdout.write(JSON.stringify({ commit, dir, asked }));
