import type { Jackin } from '@jackin/runtime';
import { Args } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../base-command.ts';

export class RoleValidate extends JackinCommand<typeof RoleValidate> {
  static override summary = 'Look for everything a launch would refuse a role for.';
  static override description =
    'Manifest, Dockerfile, and the files that would be sent. Changes and fetches nothing; of a repository the cached commit is looked at. Exit code 1 if something is wrong.';
  static override examples = [
    '<%= config.bin %> role validate ./my-role',
    '<%= config.bin %> role validate mine',
  ];
  static override args = {
    role: Args.string({ description: 'Directory, or key of a role.', required: true }),
  };

  protected execute(jackin: Jackin, { args }: Invocation<typeof RoleValidate>) {
    return jackin.roles.validate({ role: args.role });
  }
}
