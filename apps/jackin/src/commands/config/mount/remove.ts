import type { Jackin } from '@jackin/runtime';
import { Args } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../../base-command.ts';
import { dryRunFlag } from '../../../flags.ts';

export class ConfigMountRemove extends JackinCommand<typeof ConfigMountRemove> {
  static override summary = 'Remove a mount of every session.';
  static override examples = ['<%= config.bin %> config mount remove cache'];
  static override args = { name: Args.string({ description: 'Name of the mount.', required: true }) };
  static override flags = { ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigMountRemove>) {
    return jackin.settings.removeMount({ name: args.name, dryRun: flags['dry-run'] });
  }
}
