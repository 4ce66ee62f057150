import type { Jackin } from '@jackin/runtime';
import { Args, Flags } from '@oclif/core';
import { type Invocation, JackinCommand, usageError } from '../../base-command.ts';
import { dryRunFlag } from '../../flags.ts';
import { POLICIES } from '../../workspace-flags.ts';

export class ConfigExitPolicy extends JackinCommand<typeof ConfigExitPolicy> {
  static override summary = 'Tell or set what becomes of a session that ended.';
  static override description =
    'For every session; a workspace can say otherwise (`jackin workspace edit NAME --exit-policy`), and --keep or --clean of one command wins.';
  static override examples = [
    '<%= config.bin %> config exit-policy',
    '<%= config.bin %> config exit-policy keep',
    '<%= config.bin %> config exit-policy --clear',
  ];
  static override args = {
    policy: Args.string({ description: 'Without it the policy is told.', options: [...POLICIES] }),
  };
  static override flags = {
    clear: Flags.boolean({ description: 'Take it out of the file; then it is ask.' }),
    ...dryRunFlag,
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigExitPolicy>) {
    if (flags.clear && args.policy !== undefined) {
      throw usageError(this.id, '--clear and a policy exclude each other.');
    }
    const value = flags.clear ? null : (args.policy as (typeof POLICIES)[number] | undefined);
    return jackin.settings.exitPolicy({ value, dryRun: flags['dry-run'] });
  }
}
