import { constants } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '@jackin/core';
import { copyLfsObjects, copyObjects } from './copy-objects.ts';
import { CHECKOUT_MS, type GitContext, line, type RepositoryGit, repositoryGit } from './repository-git.ts';

export interface PopulateOptions {
  /** The repository it is a copy of. */
  source: RepositoryGit;
  sourceCommonDir: string;
  /** The directory it is made in, which exists and has no `.git`. */
  target: string;
  objectFormat: 'sha1' | 'sha256';
  commit: string;
  /** Short; null for a detached HEAD. */
  branch: string | null;
  origin: string | null;
  /** For the checkout. */
  settings: readonly string[];
}

export interface Populated {
  git: RepositoryGit;
  /** Short names of the source's local branches that are not in it. */
  leftOut: string[];
}

/**
 * Makes a repository of its own at `target` with everything reachable in the source, on the given commit: the local
 * branch of that name, the tags, and the remote-tracking refs of `origin` as the source knows them, so that what is
 * pushed can be told from what is not (docs/isolation.md#clone).
 * Not by `git clone`, whose `origin` would be this machine's repository, and which refuses one of another user.
 * @throws JackinError `GIT_FAILED` and what a file system says
 */
export async function populate(options: PopulateOptions, context: GitContext): Promise<Populated> {
  const { source, sourceCommonDir, target, commit, branch, origin } = options;
  const gitDir = join(target, '.git');
  const git = repositoryGit(gitDir, context, [target]);
  const init = ['init', '-q', '--template=', `--object-format=${options.objectFormat}`];
  await git.must([...init, `--initial-branch=${branch ?? 'detached'}`], {
    workTree: target,
    settings: ['init.defaultRefFormat=files'],
  });
  await mkdir(join(gitDir, 'info'), { recursive: true });
  await copyShallow(sourceCommonDir, gitDir);
  await copyObjects(join(sourceCommonDir, 'objects'), join(gitDir, 'objects'), context.signal);
  await copyLfsObjects(sourceCommonDir, gitDir);
  const refs = await refsOf(source);
  await writeRefs(git, refs, options);
  if (origin !== null) {
    await git.must(['remote', 'add', 'origin', origin]);
    const upstream = refs.find(({ name }) => name === `refs/heads/${branch}`)?.upstream ?? null;
    if (branch !== null && upstream !== null) {
      await git.must(['config', `branch.${branch}.remote`, 'origin']);
      await git.must(['config', `branch.${branch}.merge`, upstream]);
    }
  }
  if (branch === null) await git.must(['update-ref', '--no-deref', 'HEAD', commit]);
  // Neither hooks nor ORIG_HEAD, unlike checkout and reset.
  await git.must(['read-tree', '--reset', '-u', 'HEAD'], {
    workTree: target,
    cwd: target,
    timeoutMs: CHECKOUT_MS,
    settings: options.settings,
  });
  const leftOut = refs.flatMap(({ name }) =>
    name.startsWith('refs/heads/') && name !== `refs/heads/${branch}`
      ? [name.slice('refs/heads/'.length)]
      : [],
  );
  return { git, leftOut };
}

interface SourceRef {
  object: string;
  name: string;
  symref: string | null;
  /** The branch at `origin` it follows, full; null when it follows none there. */
  upstream: string | null;
}

async function refsOf(source: RepositoryGit): Promise<SourceRef[]> {
  const format = '%(objectname)%00%(refname)%00%(symref)%00%(upstream:remotename)%00%(upstream:remoteref)';
  const wanted = ['refs/heads', 'refs/tags', 'refs/remotes/origin'];
  const listed = line(await source.must(['for-each-ref', `--format=${format}`, ...wanted]));
  return listed.split('\n').flatMap((entry) => {
    const [object = '', name = '', symref = '', remote = '', followed = ''] = entry.split('\0');
    if (object === '') return [];
    const upstream = remote === 'origin' && followed !== '' ? followed : null;
    return [{ object, name, symref: symref === '' ? null : symref, upstream }];
  });
}

async function writeRefs(git: RepositoryGit, refs: SourceRef[], options: PopulateOptions): Promise<void> {
  const { branch, commit, origin } = options;
  const taken = refs.filter(({ name }) =>
    name.startsWith('refs/remotes/') ? origin !== null : name.startsWith('refs/tags/'),
  );
  const commands = taken
    .filter(({ symref }) => symref === null)
    .map(({ name, object }) => `create ${name} ${object}\n`);
  if (branch !== null) commands.push(`create refs/heads/${branch} ${commit}\n`);
  await git.must(['update-ref', '--stdin'], { input: Buffer.from(commands.join('')) });
  for (const { name, symref } of taken) {
    if (symref?.startsWith('refs/remotes/origin/')) await git.must(['symbolic-ref', name, symref]);
  }
}

async function copyShallow(from: string, to: string): Promise<void> {
  await copyFile(join(from, 'shallow'), join(to, 'shallow'), constants.COPYFILE_FICLONE).catch(
    (error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
    },
  );
}
