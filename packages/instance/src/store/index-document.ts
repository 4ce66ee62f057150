import { isDeepStrictEqual } from 'node:util';
import { JackinError, readFileBounded } from '@jackin/core';
import { backendOf } from '../backend-kind.ts';
import { type IndexRow, indexRowSchema } from '../index-file.ts';
import type { Manifest } from '../manifest.ts';
import { describeIssues, parseJsonBytes, reasonOf } from './parse.ts';

const MAX_INDEX_BYTES = 64 * 1024 * 1024;
const INDEX_VERSION = 1;
/** A row names directories that may be removed: one plain path component. */
const NAME = /^jk-[A-Za-z0-9._-]+$/;

export interface IndexDocument {
  state: 'ok' | 'missing' | 'corrupt' | 'other_version';
  reason: string | null;
  /** Other members of the top-level object, kept on rewrite. */
  extra: Record<string, unknown>;
  /** Every row that can be read, as it was written; a document with one bad row still tells about the others. */
  rows: IndexRow[];
  version: number | null;
}

/** Reads `instances.json`. Never throws for what is in it, never writes. */
export async function readIndexDocument(path: string): Promise<IndexDocument> {
  try {
    const bytes = await readFileBounded(path, { maxBytes: MAX_INDEX_BYTES });
    return bytes === null ? unusable('missing', 'there is no index') : parseIndex(bytes);
  } catch (error) {
    if (error instanceof JackinError) return unusable('corrupt', reasonOf(error));
    throw error;
  }
}

/** The document to write: rows newest first. */
export function formatIndex(extra: Record<string, unknown>, rows: IndexRow[]): string {
  const document = { version: INDEX_VERSION, ...extra, instances: [...rows].sort(newestFirst) };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** A manifest's row, on top of the row it had: members we do not know stay. */
export function rowOf(manifest: Manifest, old?: IndexRow): IndexRow {
  const { engine } = manifest;
  return {
    ...old,
    instance_id: manifest.instance_id,
    container_base: manifest.container_base,
    workspace_name: manifest.workspace_name,
    workspace_label: manifest.workspace_label,
    workdir: manifest.workdir,
    role_key: manifest.role_key,
    agent_runtime: manifest.agent_runtime,
    status: manifest.status,
    updated_at: manifest.updated_at,
    backend: backendOf(manifest),
    ...(engine === undefined ? {} : { engine: { endpoint: engine.endpoint, id: engine.id ?? null } }),
  };
}

/** Members that older rows lack: their absence makes no index stale. */
const LATER = new Set(['backend', 'engine']);

/** Whether every manifest has exactly one row and it says the same. */
export function rowsMatch(rows: IndexRow[], manifests: Manifest[]): boolean {
  const byBase = new Map(rows.map((row) => [row.container_base, row]));
  if (byBase.size !== rows.length) return false;
  return manifests.every((manifest) => {
    const row = byBase.get(manifest.container_base);
    if (row === undefined) return false;
    return Object.entries(rowOf(manifest)).every(
      ([key, value]) => (LATER.has(key) && row[key] === undefined) || isDeepStrictEqual(row[key], value),
    );
  });
}

/** Orders anything that has `updated_at`; what has no readable time comes last. */
export function newestFirst(
  a: { updated_at: string; container_base: string },
  b: { updated_at: string; container_base: string },
): number {
  const difference = timeOf(b.updated_at) - timeOf(a.updated_at);
  if (difference !== 0) return difference;
  return a.container_base < b.container_base ? -1 : Number(a.container_base > b.container_base);
}

function timeOf(text: string): number {
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}

function parseIndex(bytes: Uint8Array): IndexDocument {
  const parsed = parseJsonBytes(bytes);
  if (parsed.state === 'corrupt') return unusable('corrupt', parsed.reason);
  const { value, version } = parsed;
  if (version !== null && version !== INDEX_VERSION) {
    return { ...unusable('other_version', `version ${version}, expected ${INDEX_VERSION}`), version };
  }
  if (version === null || value === null || typeof value !== 'object') {
    return unusable('corrupt', 'no version');
  }
  const { version: _version, instances, ...extra } = value as Record<string, unknown>;
  if (!Array.isArray(instances)) return unusable('corrupt', 'instances: expected a list');
  const rows: IndexRow[] = [];
  let reason: string | null = null;
  for (const [position, row] of instances.entries()) {
    const result = indexRowSchema.safeParse(row);
    if (!result.success) reason ??= `instances.${position}: ${describeIssues(result.error)}`;
    else if (!NAME.test(result.data.container_base)) reason ??= `instances.${position}: not an instance name`;
    else rows.push(row as IndexRow);
  }
  return { state: reason === null ? 'ok' : 'corrupt', reason, extra, rows, version };
}

function unusable(state: 'missing' | 'corrupt' | 'other_version', reason: string): IndexDocument {
  return { state, reason, extra: {}, rows: [], version: null };
}
