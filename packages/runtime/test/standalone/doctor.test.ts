import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createScratch, type Scratch } from '../execute/support/scratch.ts';

describe('what the standalone backend tells the doctor', () => {
  let scratch: Scratch;
  afterEach(() => scratch.dispose());

  const findings = async () => {
    const found = await scratch.backend.doctor(AbortSignal.timeout(10_000));
    return Object.fromEntries(found.map(({ check, severity }) => [check, severity]));
  };

  describe('on a host like this one', () => {
    beforeEach(async () => {
      scratch = await createScratch();
    });

    it('is that everything is there, and what it does not isolate', async () => {
      expect(await findings()).toEqual({
        'standalone.node': 'ok',
        'standalone.processes': 'ok',
        'standalone.socket_path': 'ok',
        'standalone.isolation': 'info',
      });
    });
  });

  describe('with a state directory far down', () => {
    beforeEach(async () => {
      scratch = await createScratch({ depth: 'd'.repeat(60) });
    });

    it('is that sockets will need a short directory', async () => {
      expect((await findings())['standalone.socket_path']).toBe('info');
    });
  });
});
