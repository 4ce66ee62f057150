import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DiskFault } from './support/disk-fault.ts';
import { snapshot } from './support/evidence.ts';
import { hasNotes, type Instance, killInstance, writeNotes } from './support/instance.ts';
import { openLibrary } from './support/library.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';
import {
  createSmallDisk,
  type FaultyResult,
  halfWritten,
  instancesIn,
  type SmallDisk,
} from './support/small-disk.ts';

const MINUTES = 60_000;
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
/** No command writes more often; a fault that is never reached must not look like one that was survived. */
const MOST_WRITES = 60;

const FAULTS: Record<DiskFault['kind'], { code: string; hint: RegExp }> = {
  full: { code: 'DISK_FULL', hint: /Free some space/ },
  readonly: { code: 'STATE_NOT_WRITABLE', hint: /Make it writable/ },
};
const load = (sandbox: Sandbox) =>
  ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--detach', '--json'].concat(
    ['--backend', 'standalone', '--', 'sleep', '1000'],
  );

describe.each(isRoot ? (['full', 'readonly'] as const) : [])('a state directory on a disk that is %s', (kind) => {
  let disk: SmallDisk;
  /** Kept before anything went wrong: it must stay as it is. */
  let old: Instance;
  let oldFiles: string[];

  beforeEach(async () => {
    disk = createSmallDisk();
  });
  afterEach(() => disk.dispose());

  async function keepOne(): Promise<void> {
    old = await disk.loadShell(['sleep', '1000']);
    writeNotes(disk, old);
    await disk.jackin(['stop', old.id, '--keep']);
    oldFiles = snapshot(join(disk.state, 'data', old.base));
  }

  test(
    'O58: refuses a load at each of its writes by name, and what was kept stays as it was',
    async () => {
      const refusals: string[] = [];
      for (let at = 1; ; at += 1) {
        const result = await disk.failing(kind, at, load(disk));
        if (result.refused === null) break;
        refusals.push(`${at} ${result.refused.call} ${result.refused.path} ${result.code} ${result.stdout.slice(0,900)} ${result.stderr}`);
        console.error(refusals.at(-1), halfWritten(disk), (await openLibrary(disk).jackin.status({instance:null,detail:false,sizes:false}) as any).document.instances.map((i:any)=>[i.instance_id,i.status]), readdirSync(join(disk.state,'data')));
        disk.heal();
        for (const left of instancesIn(disk.state)) {
          const purged = await openLibrary(disk).jackin.purge({ instance: left.id, yes: true, force: false, dryRun: false }).catch((e) => e);
          console.error(purged, await disk.traces(left));
        }
        if (at > 3) break;
      }
    },
    10 * MINUTES,
  );
});
