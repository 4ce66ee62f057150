import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../base-command.ts';
import { workspaceArg } from '../../config-args.ts';
import { dryRunFlag, yesFlag } from '../../flags.ts';

export class WorkspaceRemove extends JackinCommand<typeof WorkspaceRemove> {
  static override summary = 'Remove a workspace.';
  static override description =
    'Asks first. Its instances are named and not touched: they can be resumed by their id. They are kept at their end then, unless a flag says otherwise.';
  static override examples = [
    '<%= config.bin %> workspace remove app',
    '<%= config.bin %> workspace remove app --yes',
  ];
  static override args = { name: workspaceArg };
  static override flags = { ...yesFlag, ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof WorkspaceRemove>) {
    return jackin.workspaces.remove({ name: args.name, yes: flags.yes, dryRun: flags['dry-run'] });
  }
}
