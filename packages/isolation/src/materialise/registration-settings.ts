import { join } from 'node:path';
import { readFileBounded, succeeded } from '@jackin/core';
import { type Registration, strangeFileOf } from './registration.ts';
import { type GitContext, records, repositoryGit } from './repository-git.ts';

const CONFIG_BYTES = 1024 * 1024;
const HARMLESS = /^(core\.sparsecheckout(cone)?|index\.sparse|user\.(name|email))$/;

/**
 * Why no git of ours may run with a registration as its directory, which a container can write; null when it may. Its
 * `config.worktree` is read as text, so that nothing in it takes effect.
 */
export async function dangerIn(
  registration: Pick<Registration, 'path'>,
  context: GitContext,
): Promise<string | null> {
  const strange = await strangeFileOf(registration);
  if (strange !== null) return `${strange} is not a file`;
  const file = join(registration.path, 'config.worktree');
  const input = await readFileBounded(file, { maxBytes: CONFIG_BYTES });
  if (input === null) return null;
  const git = repositoryGit('/dev/null', context);
  const listed = await git.run(['config', '-f', '-', '--no-includes', '-z', '--list'], { input });
  if (!succeeded(listed)) return `${file} cannot be understood`;
  const key = records(listed.stdout)
    .map((entry) => entry.split('\n', 1)[0] ?? '')
    .find((name) => !HARMLESS.test(name));
  return key === undefined ? null : `${file} sets ${key}`;
}
