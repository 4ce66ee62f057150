import { lstat, readlink, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { JackinError } from './errors.ts';
import { errorCode, shellWord } from './file-errors.ts';

/**
 * For whoever found nothing at `path`: a link on the way to it whose target is missing (a disk that is not mounted) is
 * not the same as nothing.
 * @throws JackinError `LINK_TARGET_MISSING` naming link and target
 */
export async function refuseDanglingLink(path: string): Promise<void> {
  for (let at = resolve(path); ; at = dirname(at)) {
    const found = await lstat(at).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null;
      throw error;
    });
    if (found === null && at !== dirname(at)) continue;
    if (found?.isSymbolicLink() && (await isMissing(at))) throw dangling(at, await readlink(at));
    return;
  }
}

async function isMissing(path: string): Promise<boolean> {
  try {
    await stat(path);
    return false;
  } catch (error) {
    return errorCode(error) === 'ENOENT';
  }
}

function dangling(link: string, target: string): JackinError {
  return new JackinError({
    code: 'LINK_TARGET_MISSING',
    message: `${link} is a link to ${target}, and that is not there.`,
    hint: `Mount or make what it leads to; if nothing is needed of it any more, remove the link: rm ${shellWord(link)}`,
    details: { link, target },
  });
}
