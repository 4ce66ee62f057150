import { JackinError } from '@jackin/core';
import type { TomlEdit } from '../document/index.ts';
import { AUTH_HOLDERS } from '../schema/shared.ts';
import { field } from './field.ts';

/** How an agent, or `github`, gets its credentials; null takes it out of the file. */
export interface AuthChange {
  mode?: string | null;
  syncSourceDir?: string | null;
}

/**
 * The edits of `[claude]`, `[codex]`, …, `[github]` (docs/configuration.md#config-toml). Which modes there are is for
 * the schema to say.
 * @throws JackinError `AGENT_UNKNOWN`
 */
export function authEdits(changes: Readonly<Record<string, AuthChange>>): TomlEdit[] {
  return Object.entries(changes).flatMap(([agent, { mode, syncSourceDir }]): TomlEdit[] => {
    if (!AUTH_HOLDERS.includes(agent)) throw unknownHolder(agent);
    return [...field([agent, 'auth_forward'], mode), ...field([agent, 'sync_source_dir'], syncSourceDir)];
  });
}

function unknownHolder(agent: string): JackinError {
  return new JackinError({
    code: 'AGENT_UNKNOWN',
    message: `Credentials of ${JSON.stringify(agent)} cannot be configured.`,
    hint: `Known: ${AUTH_HOLDERS.join(', ')}`,
    details: { agent, known: AUTH_HOLDERS },
    exitCode: 2,
  });
}
