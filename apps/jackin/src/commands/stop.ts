import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../base-command.ts';
import { dryRunFlag, instanceArg, policyFlags, policyOf } from '../flags.ts';

export class Stop extends JackinCommand<typeof Stop> {
  static override summary = 'End the agent in good order, then decide what is kept.';
  static override description =
    'Also finishes a session that ended while nobody was attached. Without --keep or --clean the configured policy decides; where it says "ask" and nobody can be asked, everything unfinished is kept (exit code 4).';
  static override examples = ['<%= config.bin %> stop k7p9 --keep'];
  static override args = { id: instanceArg };
  static override flags = { ...policyFlags, ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof Stop>) {
    return jackin.stop({ instance: args.id, policy: policyOf(flags), dryRun: flags['dry-run'] });
  }
}
