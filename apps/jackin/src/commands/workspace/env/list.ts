import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../../base-command.ts';
import { workspaceArg } from '../../../config-args.ts';
import { layerFlags } from '../../../variable-flags.ts';

export class WorkspaceEnvList extends JackinCommand<typeof WorkspaceEnvList> {
  static override summary = 'List the variables of a workspace, layer by layer.';
  static override description = 'References are shown as they are written, literal values are not.';
  static override examples = ['<%= config.bin %> workspace env list app'];
  static override args = { workspace: workspaceArg };
  static override flags = { role: layerFlags.role };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof WorkspaceEnvList>) {
    return jackin.variables.list({ workspace: args.workspace, role: flags.role ?? null });
  }
}
