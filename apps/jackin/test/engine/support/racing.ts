import { expect } from '@jest/globals';
import type { DockerLab } from '../../../../../tools/docker-lab/index.ts';
import { expectNothingLeft } from '../../e2e/support/instance.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './engine-sandbox.ts';
import { writeAll } from './files.ts';
import { inventory } from './inventory.ts';

/** Ends by a signal as soon as it gets one. */
export const WORKING = ['sh', '-c', 'while :; do sleep 1; done'];

/** Sessions to race for on one engine, whose role has its image already. */
export interface Ring {
  sandbox: EngineSandbox;
  working(): Promise<Instance>;
  /** Its container is killed, and ended. */
  kill(instance: Instance): Promise<void>;
  /** Purged; nothing of it is left anywhere. */
  remove(instance: Instance): Promise<void>;
  /** Kind and name of what there is beside what was there at first. */
  added(): Promise<string[]>;
  /** On disk and on the engine there is what was there at first. */
  expectNothingLeft(): Promise<void>;
  dispose(): Promise<void>;
}

export async function createRing(lab: DockerLab): Promise<Ring> {
  const sandbox = createEngineSandbox(lab);
  const ring: Omit<Ring, 'added' | 'expectNothingLeft'> = {
    sandbox,
    async working() {
      const instance = await sandbox.load(WORKING);
      await writeAll(sandbox, instance);
      return instance;
    },
    async kill(instance) {
      const container = sandbox.container(instance);
      if ((await container.inspect()).State.Running) await container.kill();
      await container.wait();
    },
    async remove(instance) {
      // A killed one goes faster.
      await sandbox
        .container(instance)
        .kill()
        .catch(() => {});
      const { code, stdout } = await sandbox.jackin(['purge', instance.id, '--yes', '--force', '--json']);
      expect({ code, stdout }).toEqual({ code: 0, stdout });
      expect(await sandbox.traces(instance)).toEqual([]);
      expect(await sandbox.onEngine(instance)).toEqual([]);
    },
    dispose: () => sandbox.dispose(),
  };
  await ring.remove(await sandbox.load(WORKING));
  const there = async () => (await inventory(lab.docker)).map(withoutId);
  const before = await there();
  return {
    ...ring,
    async added() {
      const now = await there();
      expect(before.filter((line) => !now.includes(line))).toEqual([]);
      return now.filter((line) => !before.includes(line));
    },
    async expectNothingLeft() {
      expectNothingLeft(sandbox);
      expect(await there()).toEqual(before);
    },
  };
}

/** The networks that every engine has are others after each of its starts. */
function withoutId(line: string): string {
  return line.startsWith('image ') ? line : line.split(' ', 2).join(' ');
}
