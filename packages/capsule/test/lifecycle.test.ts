import { expect, test } from '@jest/globals';
import { createLifecycle } from '../src/supervisor/lifecycle.ts';
import type { Session } from '../src/supervisor/session.ts';

// Processes that cannot be listed are a fault that no real session can be brought to.
test('a session that cannot be ended is logged, and the others and the capsule end all the same', async () => {
  const stopped: string[] = [];
  const logged: string[] = [];
  const session = (id: string, stop: () => Promise<void>) =>
    ({ id, alive: false, stop }) as unknown as Session;
  const all = [
    session('broken', async () => Promise.reject(new Error('the processes cannot be listed'))),
    session('fine', async () => void stopped.push('fine')),
  ];
  const left = Promise.withResolvers<void>();
  const lifecycle = createLifecycle({
    sessions: { all, anyAlive: false, find: () => undefined, start: () => all[0] as Session },
    records: { sessionEnded: () => {}, ending: () => {}, withdraw: () => () => {} },
    attachedClients: () => 0,
    broadcast: () => {},
    onLeave: left.resolve,
    log: Object.assign((line: string) => void logged.push(line), { once: () => {}, over: () => {} }),
  });
  lifecycle.review();
  await left.promise;
  await lifecycle.stop({ endedBy: 'request', nonce: 'n', graceMs: 0 });
  expect(stopped).toEqual(['fine']);
  expect(logged).toEqual([expect.stringContaining('the processes cannot be listed')]);
});
