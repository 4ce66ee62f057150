import type { Jackin } from '@jackin/runtime';
import { Args } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../base-command.ts';
import { dryRunFlag } from '../../flags.ts';

export class RoleMigrate extends JackinCommand<typeof RoleMigrate> {
  static override summary = "Bring a role's manifest to the newest version, where it is written.";
  static override description =
    "Comments and order stay. No other command changes a manifest: it lives in somebody's repository.";
  static override examples = ['<%= config.bin %> role migrate ./my-role --dry-run'];
  static override args = { dir: Args.string({ description: 'Directory of the role.', required: true }) };
  static override flags = { ...dryRunFlag };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof RoleMigrate>) {
    return jackin.roles.migrate({ dir: args.dir, dryRun: flags['dry-run'] });
  }
}
