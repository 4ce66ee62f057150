import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../base-command.ts';
import { workspaceArg } from '../../config-args.ts';
import { dryRunFlag } from '../../flags.ts';
import { changeOf, workspaceFlags } from '../../workspace-flags.ts';

export class WorkspaceCreate extends JackinCommand<typeof WorkspaceCreate> {
  static override summary =
    'Make a workspace: directories that belong together, and how sessions in them run.';
  static override description =
    'Without --mount the current directory is mounted at its own path (with --workdir: that directory). The workdir is then the destination of the first mount.';
  static override usage = 'workspace create NAME [FLAGS]';
  static override examples = [
    '<%= config.bin %> workspace create app',
    '<%= config.bin %> workspace create app --mount ~/src/app:/workspace/app --mount ~/notes:/workspace/notes:ro --exit-policy keep',
  ];
  static override args = { name: workspaceArg };
  static override flags = { ...workspaceFlags, ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof WorkspaceCreate>) {
    return jackin.workspaces.create({ name: args.name, change: changeOf(flags), dryRun: flags['dry-run'] });
  }
}
