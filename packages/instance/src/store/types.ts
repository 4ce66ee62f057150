import type { Clock, EventSink, JackinPaths } from '@jackin/core';
import type { IndexRow } from '../index-file.ts';
import type { IsolationRecord } from '../isolation.ts';
import type { Manifest } from '../manifest.ts';

/** A record that cannot be used. It is shown, hides no other one, and is never overwritten or pruned. */
export interface CorruptRecord {
  /** The file or directory that is wrong. */
  path: string;
  container_base: string;
  /** From the directory's name, when it has the form of a base name. */
  instance_id: string | null;
  code: 'MANIFEST_CORRUPT' | 'MANIFEST_TOO_NEW';
  reason: string;
}

/** Everything found in the state directories, by looking only. */
export interface LoadedState {
  /** Newest first. */
  instances: Manifest[];
  corrupt: CorruptRecord[];
  /** The index as it is on disk; it decides nothing. */
  rows: IndexRow[];
  /** `stale`: readable, but it does not say what the manifests say. */
  indexState: 'ok' | 'missing' | 'corrupt' | 'other_version' | 'stale';
  indexReason: string | null;
  /**
   * Rows whose directory is gone: a clean-up that was interrupted, or a directory removed by someone else. When the
   * row says `purged`, parts of the directory may still be there; all that is missing is the manifest.
   */
  rowsWithoutManifest: IndexRow[];
  /** Base names that only a lock file remembers: a launch that just claimed its name, or a leftover. */
  lockOnly: string[];
  /** Base names that only a socket directory remembers. */
  socketOnly: string[];
  /** What the operator must hear about the index. */
  notices: { code: string; message: string }[];
}

export type IsolationState =
  | {
      state: 'ok';
      records: IsolationRecord[] /** Members of the file this version does not know. */;
      rest: Record<string, unknown>;
    }
  | { state: 'absent' }
  | { state: 'corrupt'; reason: string };

export interface ResolvedInstance {
  instance_id: string;
  container_base: string;
  /** null: only an index row is left, its clean-up was interrupted. */
  manifest: Manifest | null;
}

export interface InstanceStoreOptions {
  paths: JackinPaths;
  events: EventSink;
  clock: Clock;
  /** How long a write waits for another process that writes the index. */
  lockWaitMs?: number;
}
