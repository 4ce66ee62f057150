import type { Jackin } from '@jackin/runtime';
import { JackinCommand } from '../base-command.ts';

export class Doctor extends JackinCommand<typeof Doctor> {
  static override summary = 'Check what jackin needs on this machine.';
  static override description =
    'Node, git, the state directory, the default backend, leftovers and records that cannot be read. Exit code 1 if something is an error.';
  static override examples = ['<%= config.bin %> doctor', '<%= config.bin %> doctor --json'];

  protected execute(jackin: Jackin) {
    return jackin.doctor();
  }
}
