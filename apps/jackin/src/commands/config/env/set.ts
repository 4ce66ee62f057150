import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../../base-command.ts';
import { dryRunFlag } from '../../../flags.ts';
import { layerFlags, VALUES, valueFlags, valuesArg } from '../../../variable-flags.ts';

export class ConfigEnvSet extends JackinCommand<typeof ConfigEnvSet> {
  static override summary = 'Set variables of every session.';
  static override description = VALUES;
  static override examples = [
    '<%= config.bin %> config env set EDITOR=vi',
    "<%= config.bin %> config env set TOKEN='$TOKEN' --role shell",
    '<%= config.bin %> config env set KEY=op://vault/item/field --account acme --on-demand',
  ];
  static override args = { values: valuesArg };
  static override flags = { ...valueFlags, ...layerFlags, ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigEnvSet>) {
    return jackin.variables.set({
      workspace: null,
      values: args.values,
      role: flags.role ?? null,
      github: flags.github,
      onDemand: flags['on-demand'],
      account: flags.account ?? null,
      dryRun: flags['dry-run'],
    });
  }
}
