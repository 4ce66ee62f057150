import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import {
  type CountedWrite,
  type DiskFault,
  FAULT_VARIABLE,
  FILLER,
  fill,
  mountReadOnly,
} from './disk-fault.ts';
import { type Instance, killInstance } from './instance.ts';
import { type CliResult, createSandbox, type Sandbox } from './sandbox.ts';

const PRELOAD = new URL('./disk-fault.ts', import.meta.url);

/** A sandbox whose state directory is a small file system of its own. Needs root. */
export interface SmallDisk extends Sandbox {
  /** Runs the real binary; its write number `at` is the first one the disk refuses. */
  failing(kind: DiskFault['kind'], at: number, args: string[]): Promise<FaultyResult>;
  /** Not one byte more fits from now on. */
  fill(): void;
  /** It can only be read from now on. */
  protect(): void;
  /** The disk takes writes again. */
  heal(): void;
}

export interface FaultyResult extends CliResult {
  /** The first write that was refused; null: the command made fewer writes. */
  refused: CountedWrite | null;
}

export function createSmallDisk(): SmallDisk {
  const sandbox = createSandbox();
  const { state } = sandbox;
  mkdirSync(state);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=0700', 'none', state]);
  const preload = join(sandbox.root, 'disk-fault.mjs');
  writeFileSync(preload, stripTypeScriptTypes(readFileSync(PRELOAD, 'utf8')));
  let readOnly = false;
  const heal = (): void => {
    rmSync(join(state, FILLER), { force: true });
    if (readOnly) execFileSync('umount', [state]);
    readOnly = false;
  };
  const protect = (): void => {
    mountReadOnly(state);
    readOnly = true;
  };
  let commands = 0;
  return {
    ...sandbox,
    fill: () => fill(join(state, FILLER)),
    protect,
    heal,
    async failing(kind, at, args) {
      commands += 1;
      const log = join(sandbox.root, `writes-${commands}.ndjson`);
      const fault: DiskFault = { under: state, at, kind, log };
      const result = await sandbox.jackin(args, {
        env: { NODE_OPTIONS: `--import=${preload}`, [FAULT_VARIABLE]: JSON.stringify(fault) },
      });
      const refused = writesIn(log).find(({ write }) => write === at) ?? null;
      readOnly = kind === 'readonly' && refused !== null;
      return { ...result, refused };
    },
    async dispose() {
      if (readOnly) execFileSync('umount', [state]);
      for (const instance of instancesIn(state)) await killInstance(instance);
      execFileSync('umount', ['-l', state]);
      await sandbox.dispose();
    },
  };
}

/** Every directory of an instance, usable or not. */
export function instancesIn(state: string): Instance[] {
  if (!existsSync(join(state, 'data'))) return [];
  return readdirSync(join(state, 'data')).flatMap((base) => {
    const id = /^jk-([0-9a-z]{8})-[^.]*$/.exec(base)?.[1];
    return id === undefined ? [] : [{ id, base }];
  });
}

function writesIn(log: string): CountedWrite[] {
  if (!existsSync(log)) return [];
  return readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Every state file that jackin reads as a whole is one: nothing holds half of what was to be written. */
export function halfWritten({ state }: Sandbox): string[] {
  if (!existsSync(join(state, 'data'))) return [];
  return readdirSync(join(state, 'data'), { recursive: true })
    .map(String)
    .filter((path) => /(^|\/)(instances|instance|isolation|exit|heartbeat|screen)\.json$/.test(path))
    .filter((path) => !isWhole(join(state, 'data', path)));
}

function isWhole(path: string): boolean {
  try {
    return typeof JSON.parse(readFileSync(path, 'utf8')) === 'object';
  } catch (error) {
    // Replaced or removed between the two looks.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
