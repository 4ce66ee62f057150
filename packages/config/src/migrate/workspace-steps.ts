import { WORKSPACE_VERSION } from '../version.ts';
import { accountPerReference } from './account-per-reference.ts';
import { type MigrationChain, restamp } from './chain.ts';
import { discardIsClean } from './discard-is-clean.ts';

/** `workspaces/<name>.toml` (docs/schema-timeline.md#workspaces). */
export const workspaceChain: MigrationChain = {
  target: WORKSPACE_VERSION,
  steps: [
    restamp('legacy', 'v1alpha1', 'files carry a version'),
    restamp('v1alpha1', 'v1alpha2', 'nothing but the version'),
    restamp('v1alpha2', 'v1alpha3', 'the agent opencode'),
    restamp('v1alpha3', 'v1alpha4', 'the agent kimi'),
    {
      from: 'v1alpha4',
      to: 'v1alpha5',
      summary: 'op_account moves to every 1Password reference as account',
      apply: accountPerReference,
    },
    restamp('v1alpha5', 'v1alpha6', 'sync_source_dir per agent'),
    restamp('v1alpha6', 'v1alpha7', '[runtime], [docker], on_demand values'),
    restamp('v1alpha7', 'v1alpha8', 'dirty_exit_policy'),
    {
      from: 'v1alpha8',
      to: 'v1alpha9',
      summary: 'dirty_exit_policy = "discard" is called "clean"',
      apply: discardIsClean,
    },
  ],
};
