import type { Jackin } from '@jackin/runtime';
import { Args } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../base-command.ts';
import { workspaceArg } from '../../config-args.ts';
import { dryRunFlag } from '../../flags.ts';

export class WorkspaceRename extends JackinCommand<typeof WorkspaceRename> {
  static override summary = 'Give a workspace another name.';
  static override description =
    'Its instances come along: they are offered by a load of the new name, and its exit policy goes on to apply to them. Exit code 1 if one could not be brought along; the same command does it later.';
  static override examples = ['<%= config.bin %> workspace rename app site'];
  static override args = {
    name: workspaceArg,
    to: Args.string({ description: 'The new name.', required: true }),
  };
  static override flags = { ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof WorkspaceRename>) {
    return jackin.workspaces.rename({ from: args.name, to: args.to, dryRun: flags['dry-run'] });
  }
}
