import type { Jackin } from '@jackin/runtime';
import { Args, Flags } from '@oclif/core';
import { type Invocation, JackinCommand } from '../base-command.ts';

export class Assess extends JackinCommand<typeof Assess> {
  static override summary = 'Tell what a git tree holds that is nowhere else.';
  static override description =
    'Looks at a repository, worktree, clone or submodule without changing it and without running anything it holds: uncommitted files, commits on no remote, stashes, nested repositories, operations in progress. The verdict is clean, dirty, unpushed or unknown, and the exit code is 0 for each: read the verdict before you remove anything.';
  static override examples = [
    '<%= config.bin %> assess .',
    '<%= config.bin %> assess ~/projects/app --base "$(git rev-parse main)" --json',
  ];
  static override args = {
    path: Args.string({
      description: 'The top level of a work tree, or a git directory.',
      required: true,
      name: 'path',
    }),
  };
  static override flags = {
    base: Flags.string({
      description: 'Id of the commit it started from. Default: what no remote-tracking ref has counts.',
      helpValue: 'COMMIT',
    }),
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof Assess>) {
    return jackin.assess({ path: args.path, base: flags.base ?? null });
  }
}
