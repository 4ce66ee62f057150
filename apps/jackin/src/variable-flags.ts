import { Args, Flags } from '@oclif/core';

/** Which layer of the file is meant. */
export const layerFlags = {
  role: Flags.string({ description: 'Only for sessions of this role.', helpValue: 'KEY' }),
  github: Flags.boolean({ description: 'The variables of [github] rather than those of the session.' }),
};

/** How a value is written. */
export const valueFlags = {
  'on-demand': Flags.boolean({ description: 'Leave it out of the session until it is asked for.' }),
  account: Flags.string({ description: '1Password account of the op:// references.', helpValue: 'ACCOUNT' }),
};

export const valuesArg = Args.string({
  description: 'NAME=VALUE. VALUE is a text, $NAME of this machine, or op://vault/item/field.',
  required: true,
  multiple: true,
});

export const namesArg = Args.string({ description: 'Name of a variable.', required: true, multiple: true });

/** What both commands say about values. */
export const VALUES =
  "A reference is written as it is and read at every start, so a secret need not be in the file: NAME='$NAME' (quoted, or the shell replaces it) or NAME=op://vault/item/field. A literal value is never printed again.";
