import type { Jackin } from '@jackin/runtime';
import { JackinCommand } from '../../base-command.ts';

export class ConfigShow extends JackinCommand<typeof ConfigShow> {
  static override summary = 'Show every value of config.toml that counts, and where it comes from.';
  static override description =
    'Defaults included. Literal values of variables, and what is called a secret by its key, are not shown.';
  static override examples = ['<%= config.bin %> config show', '<%= config.bin %> config show --json'];

  protected execute(jackin: Jackin) {
    return jackin.settings.show();
  }
}
