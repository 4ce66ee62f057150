import { readdir } from 'node:fs/promises';
import { inspectLock, toJackinError } from '@jackin/core';
import type { Finding } from '../backend.ts';
import { rowOnly } from './row-only.ts';
import type { World } from './world.ts';

/** What no instance needs any more, and records nobody can read. Listed, never removed. */
export async function leftoverFindings(world: World): Promise<Finding[]> {
  try {
    const seen = await world.look({ everyBackend: true });
    const { corrupt, rowsWithoutManifest, lockOnly, socketOnly, indexState, indexReason } = seen.loaded;
    const locks = await unheld(world, lockOnly);
    const findings: Finding[] = [
      ...corrupt.map(
        ({ path, reason }): Finding => ({
          check: 'records',
          severity: 'error',
          message: `${path} cannot be read: ${reason}`,
          hint: 'It is left alone. Restore the file from a backup, or move its directory away.',
        }),
      ),
      ...rowsWithoutManifest.map(rowOnly).map(
        ({ message, hint }): Finding => ({
          check: 'records',
          severity: 'warning',
          message: message.replace(/^The/, 'the'),
          hint,
        }),
      ),
      ...orphans('locks without an instance', locks),
      ...orphans('socket directories without an instance', socketOnly),
      ...orphans(
        'resources of no instance here (another state directory of jackin may know them)',
        seen.orphans.map(({ kind, name }) => `${kind} ${name}`),
      ),
      ...(await interruptedWrites(world)),
    ];
    if (indexState !== 'ok' && indexState !== 'missing') {
      findings.push({
        check: 'records',
        severity: 'warning',
        message: `the index is ${indexState}${indexReason === null ? '' : ` (${indexReason})`}`,
        hint: 'The next command rebuilds it: jackin status',
      });
    }
    const healthy: Finding = {
      check: 'records',
      severity: 'ok',
      message: `${seen.facts.length} instance${seen.facts.length === 1 ? '' : 's'}, nothing left over`,
    };
    return findings.length === 0 ? [healthy] : findings;
  } catch (error) {
    const { message, hint } = toJackinError(error);
    return [{ check: 'records', severity: 'error', message, ...(hint === undefined ? {} : { hint }) }];
  }
}

/** A lock somebody holds belongs to a launch that has no directory yet. */
async function unheld(world: World, bases: string[]): Promise<string[]> {
  const free: string[] = [];
  for (const base of bases) {
    const state = await inspectLock(`${world.paths.dataDir}/${base}.lock`).catch(() => null);
    if (state?.state === 'free') free.push(`${base}.lock`);
  }
  return free;
}

async function interruptedWrites({ paths }: World): Promise<Finding[]> {
  const names = await readdir(paths.dataDir).catch(() => []);
  return orphans(
    'interrupted writes',
    names.filter((name) => name.endsWith('.jktmp')),
  );
}

function orphans(what: string, names: string[]): Finding[] {
  if (names.length === 0) return [];
  return [{ check: 'orphans', severity: 'info', message: `${what}: ${names.join(', ')}` }];
}
