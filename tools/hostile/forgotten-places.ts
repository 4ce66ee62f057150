import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Plant, put, repositoryAt, setting } from './plant.ts';
import type { Scene } from './scene.ts';

const CLONE = ['clone'] as const;
const STATUS = { args: ['status'] };

/** Configuration in places that are easily forgotten. */
export const forgottenPlaces: readonly Plant[] = forgotten();

function forgotten(): Plant[] {
  const monitor = ({ program }: Scene): string => `[core]\n\tfsmonitor = ${program}\n`;
  const inner = (name: string, fires: Plant['fires'], record: boolean): Plant => ({
    name,
    ...(fires === undefined ? {} : { fires, proves: 'runs' as const }),
    plant: async (scene) => {
      const dir = join(scene.tree, 'inner');
      await repositoryAt(scene, dir);
      if (record) await scene.git(['add', 'inner']);
      put(join(dir, '.git/config'), `[core]\n\trepositoryFormatVersion = 0\n${monitor(scene)}`);
    },
  });
  return [
    {
      name: 'config.worktree',
      kinds: CLONE,
      fires: STATUS,
      proves: 'runs',
      plant: (scene) => {
        setting(scene, '[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tworktreeConfig = true');
        put(join(scene.gitDir, 'config.worktree'), monitor(scene));
      },
    },
    {
      name: 'config.worktree of a registration',
      kinds: ['worktree'],
      fires: STATUS,
      proves: 'runs',
      plant: (scene) => {
        // The operator had switched it on; the file is the tree's own.
        setting(scene, '[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tworktreeConfig = true');
        put(join(scene.gitDir, 'config.worktree'), monitor(scene));
      },
    },
    inner('a repository among the files with core.fsmonitor', { args: ['-C', 'inner', 'status'] }, false),
    inner('a recorded repository with core.fsmonitor', STATUS, true),
    {
      name: 'a submodule with core.fsmonitor',
      fires: STATUS,
      proves: 'runs',
      plant: async (scene) => {
        const source = join(scene.root, 'library');
        await repositoryAt(scene, source);
        await scene.git(['submodule', '--quiet', 'add', source, 'lib']);
        const modules = join(scene.gitDir, 'modules/lib/config');
        if (!existsSync(modules)) throw new Error('the submodule is not where it should be');
        put(
          modules,
          `[core]\n\trepositoryFormatVersion = 0\n\tworktree = ${join(scene.tree, 'lib')}\n${monitor(scene)}`,
        );
      },
    },
    {
      name: 'submodule.update',
      kinds: CLONE,
      fires: { args: ['submodule', 'update'] },
      proves: 'runs',
      plant: async (scene) => {
        const source = join(scene.root, 'library');
        await repositoryAt(scene, source);
        await scene.git(['submodule', '--quiet', 'add', source, 'lib']);
        await scene.git(['commit', '--quiet', '--allow-empty', '--message', 'moved'], {
          dir: join(scene.tree, 'lib'),
        });
        setting(scene, `[submodule "lib"]\n\tupdate = !${scene.program}`);
      },
    },
    ...[true, false].map(
      (asFile): Plant => ({
        name: asFile ? 'a .git file that leads outside' : 'a .git link that leads outside',
        fires: STATUS,
        proves: 'runs',
        plant: async (scene) => {
          await repositoryAt(scene, scene.outside);
          put(join(scene.outside, '.git/config'), `[core]\n\trepositoryFormatVersion = 0\n${monitor(scene)}`);
          rmSync(join(scene.tree, '.git'), { recursive: true });
          const target = join(scene.outside, '.git');
          if (asFile) put(join(scene.tree, '.git'), `gitdir: ${target}\n`);
          else symlinkSync(target, join(scene.tree, '.git'));
        },
      }),
    ),
    {
      name: 'commondir that leads outside',
      fires: STATUS,
      proves: 'runs',
      plant: async (scene) => {
        await repositoryAt(scene, scene.outside);
        put(join(scene.outside, '.git/config'), `[core]\n\trepositoryFormatVersion = 0\n${monitor(scene)}`);
        put(join(scene.gitDir, 'commondir'), `${join(scene.outside, '.git')}\n`);
      },
    },
    {
      name: 'a tree that is a bare repository as well',
      kinds: CLONE,
      fires: { args: ['status'] },
      proves: 'runs',
      plant: async (scene) => {
        rmSync(join(scene.tree, '.git'), { recursive: true });
        mkdirSync(join(scene.tree, 'objects'), { recursive: true });
        mkdirSync(join(scene.tree, 'refs'), { recursive: true });
        put(join(scene.tree, 'HEAD'), 'ref: refs/heads/main\n');
        put(
          join(scene.tree, 'config'),
          `[core]\n\trepositoryFormatVersion = 0\n\tworktree = ${scene.tree}\n${monitor(scene)}`,
        );
      },
    },
  ];
}
