import {
  editConfig,
  editWorkspace,
  envReferences,
  migrateOperatorFiles,
  resolveLimits,
  resolveTarget,
  type TomlEdit,
} from '@jackin/config';
import type { Scratch } from '../../helpers.ts';

export const OPTIONS = { events: () => {}, waitMs: 0 };

/** What somebody does with the files; what is refused by reading is refused by migrating, too. */
export const USES: Record<string, (s: Scratch) => Promise<unknown>> = {
  load: (s) => s.load(),
  migrate: (s) => migrateOperatorFiles(s.paths, OPTIONS),
  target: async (s) => resolveTarget({ target: 'w', cwd: s.root, loaded: await s.load(), home: s.root }),
  async env(s) {
    const loaded = await s.load();
    const workspace = loaded.workspaces.get('w') ?? null;
    return envReferences(loaded, { workspaceName: 'w', workspace }, 'smith');
  },
  async limits(s) {
    const loaded = await s.load();
    return resolveLimits(loaded, { workspaceName: 'w', workspace: loaded.workspaces.get('w') ?? null });
  },
  'edit config': (s) =>
    editConfig(s.paths, [{ path: ['retention', 'max_kept_per_target'], set: 3 }], OPTIONS),
  'edit workspace': (s) => editWorkspace(s.paths, 'w', [{ path: ['git_pull_on_entry'], set: true }], OPTIONS),
};
export const EDIT = (edit: TomlEdit) => (s: Scratch) => editConfig(s.paths, [edit], OPTIONS);
export const EDIT_W = (edit: TomlEdit) => (s: Scratch) => editWorkspace(s.paths, 'w', [edit], OPTIONS);

export interface Row {
  title: string;
  /** Its own `version` or anything else is on line 2; `{dir}` is a directory that exists. */
  config?: string;
  workspace?: string;
  uses: (keyof typeof USES | ((s: Scratch) => Promise<unknown>))[];
  code?: string;
  /** Default: the only file that is given. */
  in?: 'config' | 'workspace';
  key: string;
  line: number | null;
  says: RegExp;
  fix: RegExp;
}

export const READ = ['load', 'migrate', 'edit config'] as const;
export const READ_W = ['load', 'migrate', 'edit workspace'] as const;
export const W = 'workdir = "/w"\n[[mounts]]\nsrc = "{dir}"\ndst = "/w"\n';
