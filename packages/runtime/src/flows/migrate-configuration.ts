import { migrateOperatorFiles } from '@jackin/config';
import { type JackinError, toJackinError } from '@jackin/core';
import type { World } from './world.ts';

/** A session does not wait long for somebody who edits: it can do with the files as they are. */
const SESSION_WAIT_MS = 1_000;

/** A file that cannot be understood or read is told by whoever needs it: a `stop --keep` needs none. */
const TOLD_LATER: ReadonlySet<string> = new Set([
  'CONFIG_INVALID',
  'CONFIG_TOO_NEW',
  'STATE_NOT_READABLE',
  'LINK_TARGET_MISSING',
  'NOT_A_REGULAR_FILE',
  'FILE_TOO_LARGE',
]);

/**
 * Brings the operator's files to the newest form at the start of a command (docs/configuration.md#older-files), one
 * notice for each. What cannot be written keeps no session from being resumed or stopped: it is told, and the files
 * count as they are. Before an edit it is an error, because the edit could not be written either.
 * @throws JackinError with `edits` only: `LOCK_HELD`, `STATE_NOT_WRITABLE`, `DISK_FULL`
 */
export async function migrateConfiguration(world: World, options: { edits: boolean }): Promise<void> {
  const { events, paths } = world;
  try {
    const wait = options.edits ? {} : { waitMs: SESSION_WAIT_MS };
    for (const { file, from, to } of await migrateOperatorFiles(paths, { events, ...wait })) {
      const message = `${file} was brought from version ${from} to ${to}; everything else of it stays as it was`;
      events({ type: 'notice', level: 'info', code: 'CONFIG_MIGRATED', message });
    }
  } catch (thrown) {
    const error = toJackinError(thrown);
    if (TOLD_LATER.has(error.code)) {
      const fields = { code: error.code };
      events({ type: 'debug', message: `the configuration was not migrated: ${error.message}`, fields });
      return;
    }
    if (options.edits) throw error;
    events({ type: 'notice', level: 'warn', code: 'CONFIG_NOT_MIGRATED', message: told(error) });
  }
}

function told({ message, hint }: JackinError): string {
  const next = hint === undefined ? '' : ` ${hint}`;
  return `The configuration is of an older version and could not be brought up to date; it counts as it is: ${message}${next}`;
}
