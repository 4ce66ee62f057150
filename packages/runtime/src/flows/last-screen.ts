import { readLastScreen } from '@jackin/capsule/client';
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
  const screen = await readLastScreen(world.paths.instance(facts.container_base).state);
  return trimmed(screen?.lines ?? []);
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

function trimmed(lines: string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return lines.slice(0, last + 1).slice(-LINES);
}
