import type { Jackin } from '@jackin/runtime';
import { Flags } from '@oclif/core';
import { type Invocation, JackinCommand } from '../base-command.ts';
import { optionalInstanceArg } from '../flags.ts';

export class Status extends JackinCommand<typeof Status> {
  static override summary = 'List instances with their honest state and its cause.';
  static override description =
    'Looks at every instance, records what it finds, and deletes nothing. Exit code 1 if a record is corrupt; everything else is listed all the same.';
  static override aliases = ['ps'];
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status k7p9 --detail'];
  static override args = { id: optionalInstanceArg('Default: all of them.') };
  static override flags = {
    detail: Flags.boolean({
      description: 'Add evidence, what worktrees and clones hold, and the last screen.',
    }),
    size: Flags.boolean({ description: 'Add disk usage.' }),
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof Status>) {
    this.textOptions.detail = flags.detail;
    return jackin.status({ instance: args.id ?? null, detail: flags.detail, sizes: flags.size });
  }
}
