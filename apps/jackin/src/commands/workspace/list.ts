import type { Jackin } from '@jackin/runtime';
import { JackinCommand } from '../../base-command.ts';

export class WorkspaceList extends JackinCommand<typeof WorkspaceList> {
  static override summary = 'List the workspaces.';
  static override examples = ['<%= config.bin %> workspace list', '<%= config.bin %> workspace list --json'];

  protected execute(jackin: Jackin) {
    return jackin.workspaces.list();
  }
}
