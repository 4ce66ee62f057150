import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../../base-command.ts';
import { workspaceArg } from '../../../config-args.ts';
import { dryRunFlag } from '../../../flags.ts';
import { layerFlags, namesArg } from '../../../variable-flags.ts';

export class WorkspaceEnvUnset extends JackinCommand<typeof WorkspaceEnvUnset> {
  static override summary = 'Take variables of a workspace out of the file.';
  static override description =
    'A name that is not there is an error: a misspelt one must not pass for one that is gone.';
  static override examples = ['<%= config.bin %> workspace env unset app EDITOR'];
  static override args = { workspace: workspaceArg, names: namesArg };
  static override flags = { ...layerFlags, ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof WorkspaceEnvUnset>) {
    return jackin.variables.unset({
      workspace: args.workspace,
      names: args.names,
      role: flags.role ?? null,
      github: flags.github,
      dryRun: flags['dry-run'],
    });
  }
}
