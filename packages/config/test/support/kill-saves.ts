import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { JackinPaths } from '@jackin/core';
import { parseToml } from '../../src/document/index.ts';

const SAVER = fileURLToPath(new URL('../fixtures/saver.ts', import.meta.url));

export interface Saver {
  /** The number of the next save that is done; null when the process is over. */
  next(): Promise<number | null>;
  kill(): Promise<void>;
}

/** A process that edits config.toml `count` times. */
export function startSaver(paths: JackinPaths, name: string, first: number, count: number): Saver {
  const env = { ...process.env, JACKIN_CONFIG_DIR: paths.configDir, JACKIN_HOME_DIR: paths.homeDir };
  const args = [
    '--conditions=@jackin/source',
    '--disable-warning=ExperimentalWarning',
    SAVER,
    name,
    String(first),
    String(count),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const closed = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next() {
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) return null;
        const line = JSON.parse(value) as { saved?: number; failed?: string };
        if (line.failed !== undefined) throw new Error(line.failed);
        if (line.saved !== undefined) return line.saved;
      }
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

export interface KillReport {
  kills: number;
  acknowledged: number;
  /** Saves that were on the disk though the process died before it could say so. */
  unacknowledged: number;
  /** Temporary files found right after a kill. */
  leftovers: number;
}

/**
 * Kills an editor in the middle of its saves, again and again, and looks at the file after each kill.
 * @param random from 0 to 1
 * @throws Error when a file is neither the old nor the new one, or a save that was acknowledged is lost
 */
export async function killDuringSaves(
  paths: JackinPaths,
  options: { kills: number; random: () => number; pauseMs: number },
): Promise<KillReport> {
  const file = join(paths.configDir, 'config.toml');
  const others = (text: string) => text.split('\n').filter((line) => !/^(K|K_PAD) = |^K = \[/.test(line));
  const untouched = others(readFileSync(file, 'utf8')).join('\n');
  const report: KillReport = { kills: 0, acknowledged: -1, unacknowledged: 0, leftovers: 0 };
  while (report.kills < options.kills) {
    const saver = startSaver(paths, 'K', report.acknowledged + 1, 1_000_000);
    const enough = 1 + Math.floor(options.random() * 4);
    for (let done = 0; done < enough; done += 1) {
      const number = await saver.next();
      if (number === null) throw new Error('the editor ended by itself');
      report.acknowledged = number;
    }
    await sleep(options.random() * options.pauseMs);
    await saver.kill();
    report.kills += 1;
    // What it still said before it died counts as acknowledged.
    for (let number = await saver.next(); number !== null; number = await saver.next())
      report.acknowledged = number;
    report.leftovers += readdirSync(paths.configDir).filter((name) => name.endsWith('.jktmp')).length;
    const text = readFileSync(file, 'utf8');
    const landed = landedIn(text);
    if (landed !== report.acknowledged && landed !== report.acknowledged + 1) {
      throw new Error(`${landed} is on the disk, ${report.acknowledged} was acknowledged`);
    }
    if (landed > report.acknowledged) report.unacknowledged += 1;
    report.acknowledged = landed;
    if (!others(text).join('\n').startsWith(untouched)) throw new Error('something else of the file changed');
  }
  return report;
}

/** The last number saved; every one before it must be there, too. */
function landedIn(text: string): number {
  const { env, saved } = parseToml(text) as { env: Record<string, string>; saved: { K: number[] } };
  const number = Number(env.K);
  if (env.K_PAD?.length !== (number * 7919) % 20_000) throw new Error('two saves are mixed');
  if (saved.K.some((one, index) => one !== index) || saved.K.length !== number + 1)
    throw new Error('a save is lost');
  return number;
}
