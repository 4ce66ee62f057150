import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand, usageError } from '../../base-command.ts';
import { workspaceArg } from '../../config-args.ts';
import { dryRunFlag } from '../../flags.ts';
import { changeOf, clearFlags, workspaceFlags } from '../../workspace-flags.ts';

export class WorkspaceEdit extends JackinCommand<typeof WorkspaceEdit> {
  static override summary = 'Change fields of a workspace.';
  static override description =
    'All of the changes are made, or none. Comments, order and everything else of the file stay. Variables: `jackin workspace env`.';
  static override usage = 'workspace edit NAME [FLAGS]';
  static override examples = [
    '<%= config.bin %> workspace edit app --exit-policy keep',
    '<%= config.bin %> workspace edit app --clear-exit-policy',
    '<%= config.bin %> workspace edit app --remove-mount /workspace/notes --allowed-role shell --no-git-pull',
  ];
  static override args = { name: workspaceArg };
  static override flags = { ...workspaceFlags, ...clearFlags, ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof WorkspaceEdit>) {
    const change = changeOf(flags);
    if (Object.values(change).every((value) => value === undefined)) {
      throw usageError(this.id, 'Say what to change.');
    }
    return jackin.workspaces.edit({ name: args.name, change, dryRun: flags['dry-run'] });
  }
}
