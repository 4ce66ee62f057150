import type { Jackin } from '@jackin/runtime';
import { Args } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../base-command.ts';
import { dryRunFlag } from '../../flags.ts';

export class ConfigSet extends JackinCommand<typeof ConfigSet> {
  static override summary = 'Set any field of config.toml.';
  static override description =
    'A number, true, false or a list is written as in the file. The result is checked by every rule; what breaks one is refused and nothing is changed. Variables: `jackin config env set`.';
  static override examples = [
    '<%= config.bin %> config set runtime.default_backend standalone',
    '<%= config.bin %> config set roles.mine.path ~/roles/mine',
    '<%= config.bin %> config set agents.mine.command \'["my-agent", "--quiet"]\'',
  ];
  static override args = {
    key: Args.string({
      description: 'As in the file, e.g. attach.prefix or roles.mine.path.',
      required: true,
    }),
    value: Args.string({ description: 'The value.', required: true }),
  };
  static override flags = { ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigSet>) {
    return jackin.settings.set({ key: args.key, value: args.value, dryRun: flags['dry-run'] });
  }
}
