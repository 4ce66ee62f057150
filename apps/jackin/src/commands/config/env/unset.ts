import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../../base-command.ts';
import { dryRunFlag } from '../../../flags.ts';
import { layerFlags, namesArg } from '../../../variable-flags.ts';

export class ConfigEnvUnset extends JackinCommand<typeof ConfigEnvUnset> {
  static override summary = 'Take variables of every session out of the file.';
  static override description =
    'A name that is not there is an error: a misspelt one must not pass for one that is gone.';
  static override examples = ['<%= config.bin %> config env unset EDITOR'];
  static override args = { names: namesArg };
  static override flags = { ...layerFlags, ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigEnvUnset>) {
    return jackin.variables.unset({
      workspace: null,
      names: args.names,
      role: flags.role ?? null,
      github: flags.github,
      dryRun: flags['dry-run'],
    });
  }
}
