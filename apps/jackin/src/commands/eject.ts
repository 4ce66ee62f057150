import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../base-command.ts';
import { dryRunFlag, instanceArg } from '../flags.ts';

export class Eject extends JackinCommand<typeof Eject> {
  static override summary = 'Free what an instance uses of the engine and keep its state.';
  static override description =
    'Ends the session and removes container, sidecar, network and volume (for a standalone instance: its processes). The home, the conversation and the recipe stay, so `jackin resume` brings it back.';
  static override examples = ['<%= config.bin %> eject k7p9'];
  static override args = { id: instanceArg };
  static override flags = { ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof Eject>) {
    return jackin.eject({ instance: args.id, dryRun: flags['dry-run'] });
  }
}
