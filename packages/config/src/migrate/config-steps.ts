import { CONFIG_VERSION } from '../version.ts';
import { type MigrationChain, restamp } from './chain.ts';
import { discardIsClean } from './discard-is-clean.ts';

/** `config.toml` (docs/schema-timeline.md#config-toml). */
export const configChain: MigrationChain = {
  target: CONFIG_VERSION,
  steps: [
    restamp('legacy', 'v1alpha1', 'files carry a version'),
    restamp('v1alpha1', 'v1alpha2', 'nothing but the version'),
    restamp('v1alpha2', 'v1alpha3', 'the agent opencode'),
    restamp('v1alpha3', 'v1alpha4', 'the agent kimi'),
    restamp('v1alpha4', 'v1alpha5', '[git]'),
    restamp('v1alpha5', 'v1alpha6', 'sync_source_dir per agent'),
    restamp('v1alpha6', 'v1alpha7', '[runtime], [docker], on_demand values'),
    restamp('v1alpha7', 'v1alpha8', 'dirty_exit_policy'),
    restamp('v1alpha8', 'v1alpha9', '[telemetry]'),
    {
      from: 'v1alpha9',
      to: 'v1alpha10',
      summary: 'dirty_exit_policy = "discard" is called "clean"',
      apply: discardIsClean,
    },
  ],
};
