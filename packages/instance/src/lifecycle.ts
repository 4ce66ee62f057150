import { JackinError } from '@jackin/core';
import type { Manifest } from './manifest.ts';
import type { Status } from './status.ts';

/**
 * Legal status changes besides writing the same status again, which is always allowed
 * (docs/status-and-causes.md#transitions). Three rules make the table:
 * a session that was usable never becomes `failed_setup`; an ending is corrected only by better evidence, never by
 * worse (`clean_exited` does not become `stopped`); what was kept leaves that state only by being resumed,
 * assessed again, superseded or removed.
 */
const TRANSITIONS: Readonly<Record<Status, readonly Status[]>> = {
  active: [
    'running',
    'clean_exited',
    'crashed',
    'host_lost',
    'stopped',
    'preserved_dirty',
    'preserved_unpushed',
    'restore_available',
    'failed_setup',
    'superseded',
    'purged',
  ],
  running: [
    'active',
    'clean_exited',
    'crashed',
    'host_lost',
    'stopped',
    'preserved_dirty',
    'preserved_unpushed',
    'restore_available',
    'superseded',
    'purged',
  ],
  clean_exited: [
    'active',
    'running',
    'preserved_dirty',
    'preserved_unpushed',
    'restore_available',
    'superseded',
    'purged',
  ],
  crashed: [
    'active',
    'running',
    'clean_exited',
    'host_lost',
    'preserved_dirty',
    'preserved_unpushed',
    'restore_available',
    'superseded',
    'purged',
  ],
  host_lost: [
    'active',
    'running',
    'clean_exited',
    'crashed',
    'preserved_dirty',
    'preserved_unpushed',
    'restore_available',
    'superseded',
    'purged',
  ],
  stopped: [
    'active',
    'running',
    'clean_exited',
    'crashed',
    'host_lost',
    'preserved_dirty',
    'preserved_unpushed',
    'restore_available',
    'superseded',
    'purged',
  ],
  preserved_dirty: ['active', 'running', 'preserved_unpushed', 'restore_available', 'superseded', 'purged'],
  preserved_unpushed: ['active', 'running', 'preserved_dirty', 'restore_available', 'superseded', 'purged'],
  restore_available: ['active', 'running', 'preserved_dirty', 'preserved_unpushed', 'superseded', 'purged'],
  failed_setup: [
    'active',
    'running',
    'preserved_dirty',
    'preserved_unpushed',
    'restore_available',
    'superseded',
    'purged',
  ],
  superseded: ['purged'],
  // A clean-up that could not remove a tree, or found other work in it, becomes a keep.
  purged: ['preserved_dirty', 'preserved_unpushed', 'restore_available'],
};

const RESTORABLE: ReadonlySet<Status> = new Set<Status>([
  'active',
  'running',
  'crashed',
  'stopped',
  'host_lost',
  'preserved_dirty',
  'preserved_unpushed',
  'restore_available',
  'failed_setup',
]);

/** Whether the status may change so; the same status again is always legal. */
export function isLegalTransition(from: Status, to: Status): boolean {
  return from === to || TRANSITIONS[from].includes(to);
}

/** @throws JackinError `ILLEGAL_TRANSITION` naming both statuses */
export function assertTransition(from: Status, to: Status): void {
  if (isLegalTransition(from, to)) return;
  const legal = TRANSITIONS[from];
  throw new JackinError({
    code: 'ILLEGAL_TRANSITION',
    message: `An instance with status "${from}" cannot become "${to}".`,
    hint:
      legal.length === 0
        ? `"${from}" is final.`
        : `From "${from}" it can become ${legal.join(', ')}. See what is true now with: jackin status`,
    details: { from, to, legal },
  });
}

/**
 * Whether a session can be brought back (docs/status-and-causes.md#restorable). A clean end is restorable only
 * while its data exists: its exit flow is still pending.
 */
export function isRestorable(manifest: Pick<Manifest, 'status'>, facts: { dataExists: boolean }): boolean {
  if (manifest.status === 'clean_exited') return facts.dataExists;
  return RESTORABLE.has(manifest.status);
}
