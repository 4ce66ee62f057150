import type { Jackin } from '@jackin/runtime';
import { Flags } from '@oclif/core';
import { type Invocation, JackinCommand } from '../base-command.ts';
import { dryRunFlag, instanceArg, yesFlag } from '../flags.ts';

export class Purge extends JackinCommand<typeof Purge> {
  static override summary = 'Delete an instance and everything of it.';
  static override description =
    'Shows what goes and asks first. Also finishes a clean-up that was interrupted. An instance whose record cannot be read is refused by name.';
  static override examples = ['<%= config.bin %> purge k7p9 --dry-run', '<%= config.bin %> purge k7p9 --yes'];
  static override args = { id: instanceArg };
  static override flags = {
    ...yesFlag,
    force: Flags.boolean({
      description:
        'Also delete uncommitted or unpushed work; never work that could not be looked at. Implies --yes.',
    }),
    ...dryRunFlag,
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof Purge>) {
    return jackin.purge({
      instance: args.id,
      yes: flags.yes || flags.force,
      force: flags.force,
      dryRun: flags['dry-run'],
    });
  }
}
