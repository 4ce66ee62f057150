import type { Jackin } from '@jackin/runtime';
import { JackinCommand } from '../../base-command.ts';

export class RoleList extends JackinCommand<typeof RoleList> {
  static override summary = 'List every role that can be named, and what would keep it from being used.';
  static override examples = ['<%= config.bin %> role list'];

  protected execute(jackin: Jackin) {
    return jackin.roles.list();
  }
}
