import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../base-command.ts';
import { workspaceArg } from '../../config-args.ts';

export class WorkspaceShow extends JackinCommand<typeof WorkspaceShow> {
  static override summary = 'Show what a workspace says, what counts by default, and its instances.';
  static override description = 'Literal values of variables are not shown; references are.';
  static override examples = ['<%= config.bin %> workspace show app'];
  static override args = { name: workspaceArg };

  protected execute(jackin: Jackin, { args }: Invocation<typeof WorkspaceShow>) {
    return jackin.workspaces.show({ name: args.name });
  }
}
