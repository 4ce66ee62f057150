import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  errorCode,
  fileSystemError,
  type JackinPaths,
  readFileBounded,
  writeFileDurable,
} from '@jackin/core';
import * as z from 'zod';
import { cacheName, type GitSource } from './git-source.ts';

/** Where one repository is cached (docs/storage.md). */
export interface RepositoryPlace {
  dir: string;
  /** Exported commits, each under its own name and never changed. */
  trees: string;
  state: string;
  lock: string;
}

const COMMIT = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);
const stateSchema = z.looseObject({
  version: z.literal(1),
  git: z.string(),
  /** By branch; `HEAD` is the repository's own default. */
  refs: z.record(z.string(), z.looseObject({ commit: COMMIT, checked_at: z.string() })),
});
export type RepositoryState = z.infer<typeof stateSchema>;

const MAX_STATE_BYTES = 256 * 1024;

export function repositoryPlace(
  { rolesDir }: Pick<JackinPaths, 'rolesDir'>,
  git: GitSource,
): RepositoryPlace {
  const dir = join(rolesDir, cacheName(git));
  return { dir, trees: join(dir, 'trees'), state: join(dir, 'state.json'), lock: `${dir}.repo.lock` };
}

/** What is known of a repository; a file that says nothing usable counts as none, it is only a cache. */
export async function readRepositoryState(
  place: RepositoryPlace,
  { url }: GitSource,
): Promise<RepositoryState> {
  const none: RepositoryState = { version: 1, git: url, refs: {} };
  const bytes = await readFileBounded(place.state, { maxBytes: MAX_STATE_BYTES });
  if (bytes === null) return none;
  try {
    const parsed = stateSchema.safeParse(JSON.parse(bytes.toString('utf8')));
    return parsed.success && parsed.data.git === url ? parsed.data : none;
  } catch (error) {
    if (error instanceof SyntaxError) return none;
    throw error;
  }
}

export async function writeRepositoryState(place: RepositoryPlace, state: RepositoryState): Promise<void> {
  await writeFileDurable(place.state, `${JSON.stringify(state, null, 2)}\n`);
}

/** The directory of an exported commit, or null. It got its name only once it was whole. */
export async function exportedTree(place: RepositoryPlace, commit: string): Promise<string | null> {
  if (!COMMIT.safeParse(commit).success) return null;
  const dir = join(place.trees, commit);
  try {
    return (await lstat(dir)).isDirectory() ? dir : null;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw fileSystemError(error, dir, 'read');
  }
}
