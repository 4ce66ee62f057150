import type { Jackin } from '@jackin/runtime';
import { Flags } from '@oclif/core';
import { type Invocation, JackinCommand } from '../base-command.ts';
import { optionalInstanceArg, policyFlags, policyOf } from '../flags.ts';

export class Hardline extends JackinCommand<typeof Hardline> {
  static override summary = 'Attach this terminal to a running instance.';
  static override description =
    'Without an id: the only running instance of this directory, else a choice. Detach with Ctrl-B d; the session runs on.';
  static override examples = ['<%= config.bin %> hardline', '<%= config.bin %> hardline k7p9 --shell'];
  static override args = { id: optionalInstanceArg('Default: the one of this directory.') };
  static override flags = {
    new: Flags.boolean({
      description: 'Start another session of the agent in the same instance and attach to it.',
      exclusive: ['shell', 'inspect'],
    }),
    shell: Flags.boolean({
      description: 'Start a shell in the same instance and attach to it.',
      exclusive: ['new', 'inspect'],
    }),
    inspect: Flags.boolean({
      description: 'Do not attach: print state, evidence and the last screen.',
      exclusive: ['new', 'shell', 'keep', 'clean'],
    }),
    ...policyFlags,
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof Hardline>) {
    this.refuseJsonUnless(flags.inspect, '--inspect');
    this.textOptions.detail = flags.inspect;
    const mode = flags.new ? 'new' : flags.shell ? 'shell' : flags.inspect ? 'inspect' : 'attach';
    return jackin.hardline({ instance: args.id ?? null, mode, policy: policyOf(flags) });
  }
}
