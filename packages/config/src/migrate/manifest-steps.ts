import { MANIFEST_VERSION } from '../version.ts';
import { type MigrationChain, restamp } from './chain.ts';

/** `jackin.role.toml` (docs/schema-timeline.md#role-manifest). */
export const manifestChain: MigrationChain = {
  target: MANIFEST_VERSION,
  steps: [
    restamp('legacy', 'v1alpha1', 'manifests carry a version'),
    restamp('v1alpha1', 'v1alpha2', 'nothing but the version'),
    restamp('v1alpha2', 'v1alpha3', 'the agent opencode'),
    restamp('v1alpha3', 'v1alpha4', 'the agent kimi'),
    restamp('v1alpha4', 'v1alpha5', 'providers'),
    restamp('v1alpha5', 'v1alpha6', '[docker]'),
  ],
};
