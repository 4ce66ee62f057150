import { Args } from '@oclif/core';

/** Which workspace is meant. */
export const workspaceArg = Args.string({ description: 'Name of a workspace.', required: true });
