import { Doubt } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';
import { GITLINK, type Index, type IndexEntry } from './index-file.ts';

const ARGS = ['ls-files', '-v', '-s', '-z'] as const;
/** Or else git takes the mark from files it was told not to look at. */
const SETTINGS = ['core.sparseCheckout=false'] as const;

/**
 * What git makes of an index that is in several parts.
 * @param entries its own part has; what git lists cannot be nothing then
 * @throws Doubt for an answer that is not understood
 */
export async function listFiles(git: GitCalls, entries: number): Promise<Index> {
  const output = await git.run('git ls-files', ARGS, { settings: SETTINGS });
  const all = parseLsFiles(output);
  if (all.length === 0 && entries > 0) throw new Doubt('git ls-files did not list all of the index');
  const isSpecial = ({ mode, skipWorktree, assumeUnchanged }: IndexEntry) =>
    mode === GITLINK || skipWorktree || assumeUnchanged;
  const others = all.filter((entry) => !isSpecial(entry));
  return {
    special: all.filter(isSpecial),
    // The list says nothing of times.
    aged: others.map(({ path, mode, id }) => ({ path, mode, id, changed: null })),
    paths: () => all.map(({ path }) => path),
  };
}

export function parseLsFiles(output: Buffer): IndexEntry[] {
  const records = output.toString('latin1').split('\0');
  if (records.pop() !== '') throw new Doubt('git ls-files answered something else');
  return records.map((record): IndexEntry => {
    const [, tag, mode, id, path] = /^([A-Za-z]) (\d{6}) ([0-9a-f]{40,64}) [0-3]\t(.+)$/s.exec(record) ?? [];
    if (tag === undefined || mode === undefined || id === undefined || path === undefined) {
      throw new Doubt('git ls-files answered something else');
    }
    const skipWorktree = tag.toUpperCase() === 'S';
    return { path, mode, id, skipWorktree, assumeUnchanged: tag !== tag.toUpperCase() };
  });
}
