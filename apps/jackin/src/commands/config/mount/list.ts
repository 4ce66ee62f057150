import type { Jackin } from '@jackin/runtime';
import { JackinCommand } from '../../../base-command.ts';

export class ConfigMountList extends JackinCommand<typeof ConfigMountList> {
  static override summary = 'List the mounts of every session.';
  static override examples = ['<%= config.bin %> config mount list'];

  protected execute(jackin: Jackin) {
    return jackin.settings.mounts();
  }
}
