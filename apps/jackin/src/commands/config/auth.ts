import type { Jackin } from '@jackin/runtime';
import { Args, Flags } from '@oclif/core';
import { type Invocation, JackinCommand, usageError } from '../../base-command.ts';
import { dryRunFlag } from '../../flags.ts';

export class ConfigAuth extends JackinCommand<typeof ConfigAuth> {
  static override summary = 'Set how an agent, or github, gets its credentials.';
  static override description =
    'Modes: sync, api_key, ignore; for claude also oauth_token; for github sync, token, ignore. This version keeps the setting and does not act on it yet.';
  static override examples = [
    '<%= config.bin %> config auth claude sync --sync-source-dir ~/.claude',
    '<%= config.bin %> config auth github token',
    '<%= config.bin %> config auth codex --clear',
  ];
  static override args = {
    agent: Args.string({ description: 'An agent, or github.', required: true }),
    mode: Args.string({ description: 'The mode.' }),
  };
  static override flags = {
    'sync-source-dir': Flags.string({ description: 'Where they are taken from.', helpValue: 'DIR' }),
    clear: Flags.boolean({
      description: 'Take mode and directory out of the file.',
      exclusive: ['sync-source-dir'],
    }),
    ...dryRunFlag,
  };

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof ConfigAuth>) {
    const { mode } = args;
    const syncSourceDir = flags['sync-source-dir'];
    if (flags.clear === (mode !== undefined || syncSourceDir !== undefined)) {
      throw usageError(this.id, 'Say a mode, --sync-source-dir, or --clear.');
    }
    const change = flags.clear ? { mode: null, syncSourceDir: null } : { mode, syncSourceDir };
    return jackin.settings.auth({ agent: args.agent, ...change, dryRun: flags['dry-run'] });
  }
}
