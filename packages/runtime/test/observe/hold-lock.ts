import { acquireLock } from '@jackin/core';

/** Takes a lock, says so, and holds it until it is killed: LOCK LOCKS_DB. */
const [path, locksDb] = process.argv.slice(2) as [string, string];
await acquireLock(path, { purpose: 'test', locksDb, waitMs: 0 });
process.stdout.write('held\n');
setInterval(() => {}, 60_000);
