import { readFileBounded } from '@jackin/core';
import { TomlError } from 'smol-toml';
import { lineOf, parseToml, type TomlTable } from './document/index.ts';
import { configInvalid, configTooNew } from './errors.ts';
import { compareVersions, LEGACY, parseVersion } from './version.ts';

const MAX_CONFIG_BYTES = 1024 * 1024;

export interface VersionedTable {
  version: string;
  table: TomlTable;
}

/**
 * The text of one operator file, byte order mark included; a link to it is followed, dotfiles often are links.
 * @returns null when there is no file
 * @throws JackinError `CONFIG_INVALID` when it is not UTF-8, `FILE_TOO_LARGE`, `NOT_A_REGULAR_FILE`,
 *   `STATE_NOT_READABLE`, `LINK_TARGET_MISSING`
 */
export async function readTomlText(file: string): Promise<string | null> {
  const bytes = await readFileBounded(file, { maxBytes: MAX_CONFIG_BYTES, follow: true });
  if (bytes === null) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const fix = `Save ${file} as UTF-8.`;
    throw configInvalid(file, [{ key: '', reason: 'not valid UTF-8', fix }]);
  }
}

/**
 * What a text says, and the version it says it in.
 * @param newest the newest version this build reads; a newer text is refused before anything else of it is looked at
 * @throws JackinError `CONFIG_TOO_NEW`, `CONFIG_INVALID` with line and column for a syntax error
 */
export function parseVersioned(file: string, text: string, newest: string): VersionedTable {
  const table = parseTable(file, text, newest);
  const version = table.version ?? LEGACY;
  if (typeof version !== 'string' || parseVersion(version) === null || table.version === LEGACY) {
    const shown = typeof version === 'string' ? JSON.stringify(version) : `a ${typeof version}`;
    const reason = `${shown} is not a version`;
    const fix = `Write version = "${newest}" if ${file} is written for this jackin, or the version it was written for.`;
    throw configInvalid(file, [{ key: 'version', reason, line: lineOf(text, ['version']), fix }]);
  }
  refuseNewer(file, version, newest);
  return { version, table };
}

function parseTable(file: string, text: string, newest: string): TomlTable {
  try {
    return parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // A newer format may need a newer parser: its version explains more than our syntax error.
    const version = versionLine(text);
    if (version !== null) refuseNewer(file, version, newest);
    const reason = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    const fix = `Correct line ${error.line} of ${file}.`;
    throw configInvalid(file, [{ key: '', reason: `not valid TOML, ${reason}`, fix }], error);
  }
}

function refuseNewer(file: string, version: string, newest: string): void {
  const [found, known] = [parseVersion(version), parseVersion(newest)];
  if (found === null || known === null || compareVersions(found, known) <= 0) return;
  throw configTooNew(file, version, newest);
}

/** The version of a text that does not parse: the first such line before any table. */
function versionLine(text: string): string | null {
  const top = text.split(/^\s*\[/m)[0] ?? '';
  return /^\uFEFF?\s*version\s*=\s*["'](\w+)["']/m.exec(top)?.[1] ?? null;
}
