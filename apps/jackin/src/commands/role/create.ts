import type { Jackin } from '@jackin/runtime';
import { Args, Flags } from '@oclif/core';
import { type Invocation, JackinCommand } from '../../base-command.ts';

export class RoleCreate extends JackinCommand<typeof RoleCreate> {
  static override summary = 'Write the files of a small role that works.';
  static override description =
    'A Debian with git and a shell, in a directory that is empty or does not exist.';
  static override examples = ['<%= config.bin %> role create ~/roles/mine --name Mine'];
  static override args = { dir: Args.string({ description: 'Directory of the role.', required: true }) };
  static override flags = {
    name: Flags.string({
      description: 'What people read. Default: the name of the directory.',
      helpValue: 'NAME',
    }),
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof RoleCreate>) {
    return jackin.roles.create({ dir: args.dir, name: flags.name ?? null });
  }
}
