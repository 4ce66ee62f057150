import type { Jackin } from '@jackin/runtime';
import { Args } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../base-command.ts';
import { dryRunFlag } from '../../flags.ts';

export class ConfigUnset extends JackinCommand<typeof ConfigUnset> {
  static override summary = 'Take a field or a table out of config.toml.';
  static override examples = [
    '<%= config.bin %> config unset attach.prefix',
    '<%= config.bin %> config unset roles.mine',
  ];
  static override args = {
    key: Args.string({
      description: 'As in the file, e.g. attach.prefix or roles.mine.path.',
      required: true,
    }),
  };
  static override flags = { ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigUnset>) {
    return jackin.settings.unset({ key: args.key, dryRun: flags['dry-run'] });
  }
}
