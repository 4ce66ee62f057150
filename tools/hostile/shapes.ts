import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fifo, huge, type Plant, put, setting } from './plant.ts';
import type { Scene } from './scene.ts';

const CLONE = ['clone'] as const;

/** Files of a kind, a size or a content that makes a reader hang, fall over or believe what is not so. */
export const shapes: readonly Plant[] = [
  ...[
    'HEAD',
    'index',
    'config',
    'packed-refs',
    'refs/heads/main',
    'info/exclude',
    'objects/info/alternates',
    'logs/HEAD',
    'shallow',
    'commondir',
  ].map(
    (name): Plant => ({
      name: `a pipe for ${name}`,
      kinds: CLONE,
      plant: ({ gitDir }) => fifo(join(gitDir, name)),
    }),
  ),
  ...['HEAD', 'index', 'commondir', 'gitdir', 'logs/HEAD'].map(
    (name): Plant => ({
      name: `a pipe for ${name} of a registration`,
      kinds: ['worktree'],
      plant: ({ gitDir }) => fifo(join(gitDir, name)),
    }),
  ),
  { name: 'a pipe for .git', plant: ({ tree }) => fifo(join(tree, '.git')) },
  { name: 'a pipe for a nested .git', plant: ({ tree }) => fifo(join(tree, 'inner/.git')) },
  { name: 'a pipe for .gitignore', plant: ({ tree }) => fifo(join(tree, '.gitignore')) },
  {
    name: 'a pipe for a file that is not to be looked at',
    plant: async ({ tree, git }) => {
      await git(['update-index', '--assume-unchanged', 'b.txt']);
      fifo(join(tree, 'b.txt'));
    },
  },
  { name: 'a pipe for a file', plant: ({ tree }) => fifo(join(tree, 'b.txt')) },
  ...[
    'index',
    'HEAD',
    'config',
    'packed-refs',
    'info/exclude',
    'logs/HEAD',
    'logs/refs/stash',
    'shallow',
  ].map(
    (name): Plant => ({
      name: `2 GB of ${name}`,
      kinds: CLONE,
      plant: ({ gitDir }) => {
        mkdirSync(join(gitDir, 'logs/refs'), { recursive: true });
        huge(join(gitDir, name));
      },
    }),
  ),
  {
    name: '2 GB of .git',
    plant: ({ tree }) => huge(join(tree, '.git')),
  },
  ...['config', 'index', 'HEAD'].map(
    (name): Plant => ({
      name: `/dev/zero for ${name}`,
      kinds: CLONE,
      plant: ({ gitDir }) => {
        rmSync(join(gitDir, name));
        symlinkSync('/dev/zero', join(gitDir, name));
      },
    }),
  ),
  {
    name: 'a branch with control characters in its name',
    kinds: CLONE,
    plant: ({ gitDir, base }) =>
      put(join(gitDir, 'packed-refs'), `${base} refs/heads/a\x1b[31mb\x07\n${base} refs/heads/../../x\n`),
  },
  {
    name: 'a hundred thousand branches',
    kinds: CLONE,
    plant: ({ gitDir, base }) => {
      const refs = Array.from(
        { length: 100_000 },
        (_, number) => `${base} refs/heads/b${String(number).padStart(6, '0')}\n`,
      );
      put(join(gitDir, 'packed-refs'), `# pack-refs with: peeled fully-peeled sorted \n${refs.join('')}`);
    },
  },
  {
    name: 'a replaced commit',
    plant: async (scene) => {
      // To whoever honours it, the commit with the work is the one that was pushed.
      const made = await committed(scene);
      await scene.git(['replace', '--force', made, scene.base]);
    },
  },
  {
    name: 'grafts',
    plant: async (scene) => {
      const made = await committed(scene);
      put(join(scene.commonDir, 'info/grafts'), `${scene.base} ${made}\n${made}\n`);
    },
  },
  {
    name: 'a remote-tracking ref of no remote',
    plant: async (scene) => {
      const made = await committed(scene);
      await scene.git(['update-ref', 'refs/remotes/nobody/main', made]);
    },
  },
  {
    name: 'a remote in the tree',
    kinds: CLONE,
    plant: async (scene) => {
      const made = await committed(scene);
      const inside = join(scene.tree, '.git/inside.git');
      await scene.git(['init', '--quiet', '--bare', inside]);
      setting(scene, `[remote "inside"]\n\turl = ${inside}\n\tfetch = +refs/heads/*:refs/remotes/inside/*`);
      await scene.git(['push', '--quiet', 'inside', `${made}:refs/heads/main`]);
      await scene.git(['fetch', '--quiet', 'inside']);
    },
  },
  {
    name: 'settings that hide everything',
    kinds: CLONE,
    plant: async (scene) => {
      setting(
        scene,
        '[status]\n\tshowUntrackedFiles = no\n[core]\n\tfileMode = false\n\ttrustctime = false\n\tcheckStat = minimal\n\tignoreStat = true\n\texcludesFile = .git/all\n[diff]\n\tignoreSubmodules = all',
      );
      put(join(scene.gitDir, 'all'), '*\n');
      await scene.git(['update-index', '--assume-unchanged', 'a.txt']);
    },
  },
  {
    name: 'a sparse checkout of nothing',
    kinds: CLONE,
    plant: async (scene) => {
      setting(scene, '[core]\n\tsparseCheckout = true');
      put(join(scene.gitDir, 'info/sparse-checkout'), '/nothing\n');
      await scene.git(['update-index', '--skip-worktree', 'a.txt', 'b.txt', 'src/c.txt']);
      put(join(scene.tree, '.gitignore'), 'new.txt\n.gitignore\n');
    },
  },
  {
    name: 'files the monitor vouches for',
    kinds: CLONE,
    plant: async (scene) => {
      const monitor = ['-c', `core.fsmonitor=${existsSync('/bin/true') ? '/bin/true' : 'true'}`];
      await scene.git([...monitor, 'update-index', '--fsmonitor']);
      await scene.git([...monitor, 'update-index', '--fsmonitor-valid', 'a.txt']);
    },
  },
  {
    name: 'an untracked cache',
    kinds: CLONE,
    plant: async (scene) => {
      await scene.git(['update-index', '--force-untracked-cache']);
      await scene.git(['-c', 'core.untrackedCache=true', 'status']);
    },
  },
  {
    name: 'a lock on the index',
    plant: ({ gitDir }) => put(join(gitDir, 'index.lock'), ''),
  },
  {
    name: 'a directory of a thousand levels',
    plant: ({ tree }) =>
      mkdirSync(join(tree, ...Array.from({ length: 1_000 }, () => 'd')), { recursive: true }),
  },
  {
    name: 'no .git, in a directory of another repository',
    plant: async ({ tree, root, git }) => {
      rmSync(join(tree, '.git'), { recursive: true });
      // Whoever asks git is answered for this one, in which the tree is ignored.
      await git(['init', '--quiet'], { dir: root });
      put(join(root, '.git/info/exclude'), '*\n');
    },
  },
];

async function committed(scene: Scene): Promise<string> {
  await scene.git(['add', '--all']);
  await scene.git(['commit', '--quiet', '--message', 'nobody has pushed this']);
  return (await scene.git(['rev-parse', 'HEAD'])).out.trim();
}
