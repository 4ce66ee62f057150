import { Args, Flags } from '@oclif/core';

const EXIT = 'EXIT';

/** One-shot exit policy of the session that this command attaches to or ends; a detached one is told it by `stop`. */
export const policyFlags = {
  keep: Flags.boolean({
    description: 'When the session ends, keep its state for a later resume, whatever the configured policy.',
    exclusive: ['clean', 'detach'],
    helpGroup: EXIT,
  }),
  clean: Flags.boolean({
    description:
      'When the session ends cleanly, delete its state without a question, whatever the configured policy.',
    exclusive: ['keep', 'detach'],
    helpGroup: EXIT,
  }),
};

/** How far a restore may go without being asked. */
export const restoreFlags = {
  'accept-loss': Flags.boolean({
    description: 'Go on when a restore has to fall to a lower tier and what cannot return is lost.',
  }),
  'allow-drift': Flags.boolean({
    description: 'Rebuild with what exists when the recorded image or role cannot be had any more.',
  }),
};

export const dryRunFlag = {
  'dry-run': Flags.boolean({ description: 'Print the plan and change nothing.' }),
};

export const yesFlag = {
  yes: Flags.boolean({ description: 'Answer the confirmation with yes.' }),
};

export const detachFlag = {
  detach: Flags.boolean({ description: 'Start the agent and return without attaching this terminal.' }),
};

const ID = 'Instance id, base name, or an unambiguous prefix.';

/** Which instance is meant. */
export const instanceArg = Args.string({ description: ID, required: true });

/** The same where there is a default. */
export const optionalInstanceArg = (otherwise: string) => Args.string({ description: `${ID} ${otherwise}` });

/** The policy the operator asked for this once. */
export function policyOf(flags: { keep: boolean; clean: boolean }): 'keep' | 'clean' | null {
  if (flags.keep) return 'keep';
  return flags.clean ? 'clean' : null;
}
