import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../../base-command.ts';
import { workspaceArg } from '../../../config-args.ts';
import { dryRunFlag } from '../../../flags.ts';
import { layerFlags, VALUES, valueFlags, valuesArg } from '../../../variable-flags.ts';

export class WorkspaceEnvSet extends JackinCommand<typeof WorkspaceEnvSet> {
  static override summary = 'Set variables of a workspace.';
  static override description = VALUES;
  static override examples = [
    '<%= config.bin %> workspace env set app EDITOR=vi',
    "<%= config.bin %> workspace env set app TOKEN='$TOKEN' --role shell",
    '<%= config.bin %> workspace env set app KEY=op://vault/item/field --account acme --on-demand',
  ];
  static override args = { workspace: workspaceArg, values: valuesArg };
  static override flags = { ...valueFlags, ...layerFlags, ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof WorkspaceEnvSet>) {
    return jackin.variables.set({
      workspace: args.workspace,
      values: args.values,
      role: flags.role ?? null,
      github: flags.github,
      onDemand: flags['on-demand'],
      account: flags.account ?? null,
      dryRun: flags['dry-run'],
    });
  }
}
