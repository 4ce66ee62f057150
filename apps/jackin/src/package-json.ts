import type { Interfaces } from '@oclif/core';
import { topics } from './commands.ts';
import { bundled, version } from './version.ts';

/** What oclif would read from package.json. Commands are an explicit table: nothing is searched for at run time. */
export function packageJson(): Interfaces.PJSON {
  return {
    name: 'jackin',
    version,
    type: 'module',
    description: 'Runs AI coding agents in isolated instances and never loses a session.',
    oclif: {
      bin: 'jackin',
      commands: {
        strategy: 'explicit',
        target: bundled ? './commands.js' : './commands.ts',
        identifier: 'commands',
      },
      topicSeparator: ' ',
      topics,
      additionalHelpFlags: ['-h'],
      helpOptions: { maxWidth: 100, hideAliasesFromRoot: true, flagSortOrder: 'none' },
    },
  };
}
