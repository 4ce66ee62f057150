import { JackinError, readFileBounded } from '@jackin/core';
import { parse, TomlError } from 'smol-toml';
import { configInvalid } from './errors.ts';
import { compareVersions, LEGACY, parseVersion } from './version.ts';

const MAX_CONFIG_BYTES = 1024 * 1024;

export type TomlTable = Record<string, unknown>;

export interface VersionedTable {
  version: string;
  table: TomlTable;
}

/**
 * Reads one operator file; a link to it is followed, dotfiles often are links.
 * @param newest the newest version this build reads; a newer file is refused before anything else of it is looked at
 * @returns null when there is no file
 * @throws JackinError `CONFIG_TOO_NEW`, `CONFIG_INVALID` (with line and column for a syntax error),
 *   `FILE_TOO_LARGE`, `STATE_NOT_READABLE`
 */
export async function readVersionedToml(file: string, newest: string): Promise<VersionedTable | null> {
  const bytes = await readFileBounded(file, { maxBytes: MAX_CONFIG_BYTES, follow: true });
  if (bytes === null) return null;
  const text = decode(file, bytes);
  const table = parseTable(file, text, newest);
  const version = table.version ?? LEGACY;
  if (typeof version !== 'string' || parseVersion(version) === null) {
    throw configInvalid(file, [{ key: 'version', reason: `expected a version such as "${newest}"` }]);
  }
  refuseNewer(file, version, newest);
  return { version, table };
}

function parseTable(file: string, text: string, newest: string): TomlTable {
  try {
    return parse(text, { unsafeKeyBehaviour: 'throw' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // A newer format may need a newer parser: its version explains more than our syntax error.
    const version = versionLine(text);
    if (version !== null) refuseNewer(file, version, newest);
    const reason = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    throw configInvalid(file, [{ key: '', reason: `not valid TOML, ${reason}` }], error);
  }
}

function refuseNewer(file: string, version: string, newest: string): void {
  const [found, known] = [parseVersion(version), parseVersion(newest)];
  if (found === null || known === null || compareVersions(found, known) <= 0) return;
  throw new JackinError({
    code: 'CONFIG_TOO_NEW',
    message: `${file} has version ${JSON.stringify(version)}; this jackin understands up to ${JSON.stringify(newest)}.`,
    hint: 'Upgrade jackin. Nothing was changed.',
    details: { file, version, newest },
  });
}

/** The version of a text that does not parse: the first such line before any table. */
function versionLine(text: string): string | null {
  const top = text.split(/^\s*\[/m)[0] ?? '';
  return /^\s*version\s*=\s*["'](\w+)["']/m.exec(top)?.[1] ?? null;
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw configInvalid(file, [{ key: '', reason: 'not valid UTF-8' }]);
  }
}
