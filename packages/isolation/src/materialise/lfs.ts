import { join } from 'node:path';
import { gitWords, JackinError, readFileBounded, succeeded } from '@jackin/core';
import type { RepositoryGit } from './repository-git.ts';
import type { SourceFacts } from './source-facts.ts';

const ATTRIBUTES_BYTES = 4 * 1024 * 1024;

/** Whether a commit keeps files with git-lfs, and whether that is installed. */
export async function lfsOf(
  git: RepositoryGit,
  commonDir: string,
  commit: string,
): Promise<SourceFacts['lfs']> {
  const pattern = ['grep', '-q', '-I', '-e', 'filter=lfs', commit, '--', ':(glob)**/.gitattributes'];
  const found = await git.run(pattern);
  if (!succeeded(found) && found.exitCode !== 1) {
    throw new JackinError({
      code: 'GIT_FAILED',
      message: `its attributes cannot be read: ${gitWords(found)}`,
    });
  }
  const own = await readFileBounded(join(commonDir, 'info', 'attributes'), { maxBytes: ATTRIBUTES_BYTES });
  const used = found.exitCode === 0 || own?.includes('filter=lfs') === true;
  if (!used) return { used, available: false };
  return { used, available: succeeded(await git.run(['lfs', 'version'])) };
}
