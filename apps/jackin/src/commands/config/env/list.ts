import type { Jackin } from '@jackin/runtime';
import { type Invocation, JackinCommand } from '../../../base-command.ts';
import { layerFlags } from '../../../variable-flags.ts';

export class ConfigEnvList extends JackinCommand<typeof ConfigEnvList> {
  static override summary = 'List the variables of every session, layer by layer.';
  static override description = 'References are shown as they are written, literal values are not.';
  static override examples = ['<%= config.bin %> config env list'];
  static override flags = { role: layerFlags.role };

  protected execute(jackin: Jackin, { flags }: Invocation<typeof ConfigEnvList>) {
    return jackin.variables.list({ workspace: null, role: flags.role ?? null });
  }
}
