import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { moveOutside, type Plant, put, setting, touch } from './plant.ts';
import type { Scene } from './scene.ts';

const CLONE = ['clone'] as const;
const STATUS = { args: ['status'] };

/** Settings and links by which git reads what is no part of the tree. */
export const readers: readonly Plant[] = [
  reading('core.worktree', STATUS, (scene) => {
    put(join(scene.outside, 'a.txt'), 'not yours\n');
    setting(scene, `[core]\n\tworktree = ${scene.outside}`);
  }),
  reading('core.attributesFile', STATUS, (scene) => {
    put(join(scene.outside, 'attributes'), '*.txt text\n');
    touch(join(scene.tree, 'b.txt'));
    setting(scene, `[core]\n\tattributesFile = ${join(scene.outside, 'attributes')}`);
  }),
  reading('core.excludesFile', STATUS, (scene) => {
    put(join(scene.outside, 'excludes'), 'new.txt\na.txt\n');
    setting(scene, `[core]\n\texcludesFile = ${join(scene.outside, 'excludes')}`);
  }),
  reading('include.path outside', STATUS, (scene) => {
    put(join(scene.outside, 'config'), '[status]\n\tshowUntrackedFiles = no\n');
    setting(scene, `[include]\n\tpath = ${join(scene.outside, 'config')}`);
  }),
  reading('mailmap.file', { args: ['log', '--use-mailmap', '-1'] }, (scene) => {
    put(join(scene.outside, 'mailmap'), 'X <x@example.com> <author@example.com>\n');
    setting(scene, `[mailmap]\n\tfile = ${join(scene.outside, 'mailmap')}`);
  }),
  reading('commit.template', { args: ['-c', 'core.editor=true', 'commit', '--all'] }, (scene) => {
    put(join(scene.outside, 'template'), 'secret\n');
    setting(scene, `[commit]\n\ttemplate = ${join(scene.outside, 'template')}`);
  }),
  reading('alternates outside', STATUS, (scene) => {
    cpSync(join(scene.host, '.git/objects'), join(scene.outside, 'objects'), { recursive: true });
    // Without them the tree has none of its own.
    const objects = join(scene.commonDir, 'objects');
    for (const name of readdirSync(objects)) rmSync(join(objects, name), { recursive: true });
    put(join(objects, 'info/alternates'), `${join(scene.outside, 'objects')}\n`);
  }),
  ...['objects', 'refs', 'index', 'config', 'info', 'logs'].map((name) =>
    reading(`a link for ${name}`, name === 'logs' ? { args: ['reflog'] } : STATUS, (scene) => {
      if (name === 'info') put(join(scene.gitDir, 'info/exclude'), 'new.txt\n');
      moveOutside(scene, join(scene.gitDir, name), name);
    }),
  ),
  {
    name: 'a link for HEAD',
    kinds: CLONE,
    plant: (scene) => {
      moveOutside(scene, join(scene.gitDir, 'HEAD'), 'HEAD');
    },
  },
  reading('a link for packed-refs', { args: ['for-each-ref'] }, async (scene) => {
    await scene.git(['pack-refs', '--all']);
    moveOutside(scene, join(scene.gitDir, 'packed-refs'), 'packed-refs');
  }),
  reading('a link for a branch', STATUS, (scene) => {
    moveOutside(scene, join(scene.gitDir, 'refs/heads/main'), 'main');
  }),
  reading('a link for shallow', { args: ['log', '-1'] }, (scene) => {
    put(join(scene.outside, 'shallow'), `${scene.base}\n`);
    symlinkSync(join(scene.outside, 'shallow'), join(scene.gitDir, 'shallow'));
  }),
  reading('a link for the shared index', STATUS, async (scene) => {
    await scene.git(['update-index', '--split-index']);
    const shared = readdirSync(scene.gitDir).find((name) => name.startsWith('sharedindex.'));
    if (shared === undefined) throw new Error('the index is not split');
    moveOutside(scene, join(scene.gitDir, shared), shared);
  }),
  reading('a link for info/exclude', STATUS, (scene) => {
    put(join(scene.gitDir, 'info/exclude'), 'new.txt\n');
    moveOutside(scene, join(scene.gitDir, 'info/exclude'), 'exclude');
  }),
  reading('a link for a pack', STATUS, async (scene) => {
    await scene.git(['repack', '-a', '-d', '--quiet']);
    const packs = join(scene.commonDir, 'objects/pack');
    for (const name of readdirSync(packs)) moveOutside(scene, join(packs, name), name);
  }),
  ...['.gitignore', '.gitattributes', '.gitmodules', '.mailmap'].map((name) => ({
    name: `a link for ${name}`,
    plant: (scene: Scene) => {
      put(join(scene.outside, name), '* filter=evil\n');
      symlinkSync(join(scene.outside, name), join(scene.tree, name));
    },
  })),
  {
    name: 'a link for a directory of files',
    plant: (scene) => {
      moveOutside(scene, join(scene.tree, 'src'), 'src');
    },
  },
  {
    name: 'a link for a file',
    plant: async (scene) => {
      moveOutside(scene, join(scene.tree, 'b.txt'), 'b.txt');
      await scene.git(['update-index', '--assume-unchanged', 'a.txt', 'b.txt']);
    },
  },
  {
    name: 'a link for an ignored directory',
    plant: (scene) => {
      put(join(scene.tree, '.gitignore'), 'scratch\n');
      put(join(scene.outside, 'scratch/large.bin'), 'x'.repeat(10_000));
      symlinkSync(join(scene.outside, 'scratch'), join(scene.tree, 'scratch'));
    },
  },
  {
    name: 'a link for a nested repository',
    plant: async (scene) => {
      const dir = join(scene.outside, 'nested');
      mkdirSync(dir);
      await scene.git(['init', '--quiet'], { dir });
      symlinkSync(dir, join(scene.tree, 'nested'));
    },
  },
  {
    name: 'a .gitmodules that leads outside',
    plant: async (scene) => {
      put(
        join(scene.tree, '.gitmodules'),
        '[submodule "../../../outside"]\n\tpath = ../outside\n\turl = -u./planted\n[submodule "x"]\n\tpath = src\n\turl = ext::planted\n\tupdate = !planted\n',
      );
      put(join(scene.outside, 'HEAD'), 'ref: refs/heads/main\n');
      await scene.git(['update-index', '--add', '--cacheinfo', `160000,${scene.base},lib`]);
    },
  },
  {
    name: 'a nested .git file that leads outside',
    plant: async (scene) => {
      const dir = join(scene.outside, 'nested');
      mkdirSync(dir);
      await scene.git(['init', '--quiet'], { dir });
      put(join(scene.tree, 'inner/.git'), `gitdir: ${join(dir, '.git')}\n`);
    },
  },
  {
    name: 'a tree that is a link',
    plant: (scene) => {
      cpSync(scene.tree, join(scene.outside, 'tree'), { recursive: true });
      rmSync(scene.tree, { recursive: true });
      symlinkSync(join(scene.outside, 'tree'), scene.tree);
    },
  },
  {
    name: 'a parent that is a link',
    plant: (scene) => {
      const parent = dirname(scene.tree);
      renameSync(parent, join(scene.outside, 'parent'));
      symlinkSync(join(scene.outside, 'parent'), parent);
    },
  },
];

/** Of a clone, whose git directory the agent can write; today's git is proven to read it. */
function reading(name: string, fires: Plant['fires'] & object, plant: Plant['plant']): Plant {
  return { name, kinds: CLONE, plant, fires, proves: 'reads' };
}
