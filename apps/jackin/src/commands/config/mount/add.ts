import type { Jackin } from '@jackin/runtime';
import { Args } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../../base-command.ts';
import { dryRunFlag } from '../../../flags.ts';

export class ConfigMountAdd extends JackinCommand<typeof ConfigMountAdd> {
  static override summary = 'Add a mount that every session in a container gets.';
  static override examples = ['<%= config.bin %> config mount add cache ~/.cache/packages:/cache:ro'];
  static override args = {
    name: Args.string({ description: 'Name of the mount.', required: true }),
    mount: Args.string({ description: 'PATH[:ro] or SRC:DST[:ro].', required: true }),
  };
  static override flags = { ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigMountAdd>) {
    return jackin.settings.addMount({ name: args.name, mount: args.mount, dryRun: flags['dry-run'] });
  }
}
