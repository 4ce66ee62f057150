import { join } from 'node:path';
import { SCREEN_FILE, STATE_FILE_MAX_BYTES, screenSchema } from '@jackin/capsule/protocol';
import { readFileBounded } from '@jackin/core';
import type { InstanceFacts } from '../facts.ts';
import { bounded } from '../observe/bounded.ts';
import { backendFor } from './backend-for.ts';
import type { World } from './world.ts';

const LINES = 60;
const SNAPSHOT_MS = 2_000;

/** The session's screen as plain text: asked of a living capsule, else the last one it wrote. Empty when there is none. */
export async function lastScreen(world: World, facts: InstanceFacts): Promise<string[]> {
  if (facts.capsule.state === 'answers') {
    const live = await snapshot(world, facts).catch(() => null);
    if (live !== null) return live;
  }
  return recorded(world.paths.instance(facts.container_base).state).catch(() => []);
}

async function snapshot(
  world: World,
  { instance_id, container_base, manifest }: InstanceFacts,
): Promise<string[]> {
  const ref = { instance_id, container_base, manifest };
  return bounded('The screen', SNAPSHOT_MS, undefined, async (signal) => {
    const connection = await world.capsule.connect(ref, backendFor(world, manifest).capsule(ref), signal);
    try {
      return trimmed((await connection.snapshot(null, LINES)).lines);
    } finally {
      connection.close();
    }
  });
}

/** Written by the capsule, so it is read as untrusted input. */
async function recorded(stateDir: string): Promise<string[]> {
  const bytes = await readFileBounded(join(stateDir, SCREEN_FILE), { maxBytes: STATE_FILE_MAX_BYTES });
  if (bytes === null) return [];
  return trimmed(screenSchema.parse(JSON.parse(bytes.toString('utf8'))).lines);
}

function trimmed(lines: string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return lines.slice(0, last + 1).slice(-LINES);
}
