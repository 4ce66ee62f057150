import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../base-command.ts';
import { dryRunFlag, yesFlag } from '../flags.ts';

export class Exile extends JackinCommand<typeof Exile> {
  static override summary = 'Eject every running instance.';
  static override description = 'Asks first. The state of every instance is kept and can be resumed.';
  static override examples = ['<%= config.bin %> exile --yes'];
  static override flags = { ...yesFlag, ...dryRunFlag };

  protected execute(jackin: Jackin, { flags }: Invocation<typeof Exile>) {
    return jackin.exile({ yes: flags.yes, dryRun: flags['dry-run'] });
  }
}
