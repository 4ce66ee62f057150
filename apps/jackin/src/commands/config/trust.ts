import type { Jackin } from '@jackin/runtime';
import { Args, Flags } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../base-command.ts';
import { dryRunFlag } from '../../flags.ts';

export class ConfigTrust extends JackinCommand<typeof ConfigTrust> {
  static override summary = "Trust a role's repository, or stop to.";
  static override description = 'What is in a role runs when its image is built and in every session.';
  static override examples = [
    '<%= config.bin %> config trust mine',
    '<%= config.bin %> config trust mine --revoke',
  ];
  static override args = {
    role: Args.string({ description: 'Key of a role with a repository.', required: true }),
  };
  static override flags = {
    revoke: Flags.boolean({ description: 'Do not trust it any more.' }),
    ...dryRunFlag,
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigTrust>) {
    return jackin.settings.trust({ role: args.role, trusted: !flags.revoke, dryRun: flags['dry-run'] });
  }
}
