import { resolve } from 'node:path';
import type { Jackin } from '@jackin/runtime';
import { Flags } from '@oclif/core';
import { type Invocation, JackinCommand, usageError } from '../base-command.ts';
import {
  detachFlag,
  dryRunFlag,
  optionalInstanceArg,
  policyFlags,
  policyOf,
  restoreFlags,
} from '../flags.ts';

export class Resume extends JackinCommand<typeof Resume> {
  static override summary = 'Bring a session back and attach to it.';
  static override description =
    'Reuses what still exists before it re-creates anything, and reports what came back and what could not. A session that is still running is attached to.';
  static override examples = [
    '<%= config.bin %> resume k7p9',
    '<%= config.bin %> resume k7p9 --detach --json',
    '<%= config.bin %> resume --all',
  ];
  static override args = { id: optionalInstanceArg('Or --all.') };
  static override flags = {
    all: Flags.boolean({
      description: 'Everything interrupted by the last host loss; the agents start detached.',
      exclusive: ['keep', 'clean'],
    }),
    source: Flags.string({
      description: 'Where the repository of its worktree is now, when it was moved.',
      helpValue: 'PATH',
      exclusive: ['all'],
    }),
    ...detachFlag,
    ...restoreFlags,
    ...policyFlags,
    ...dryRunFlag,
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof Resume>) {
    if (flags.all === (args.id !== undefined)) {
      throw usageError(
        'resume',
        'Name one instance, or say --all for everything the last host loss interrupted.',
      );
    }
    const how = {
      acceptLoss: flags['accept-loss'],
      allowDrift: flags['allow-drift'],
      dryRun: flags['dry-run'],
    };
    if (args.id === undefined) return jackin.resumeAll(how);
    this.refuseJsonUnless(flags.detach || how.dryRun, '--detach or --dry-run');
    const source = flags.source === undefined ? null : resolve(this.context.cwd, flags.source);
    const policy = policyOf(flags);
    return jackin.resume({ instance: args.id, policy, detach: flags.detach, source, ...how });
  }
}
