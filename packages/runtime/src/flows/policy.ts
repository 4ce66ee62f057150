import { resolveExitPolicy } from '@jackin/config';
import type { Manifest } from '@jackin/instance';
import type { ExitPolicy } from '../decide/exit-policy-table.ts';
import type { PolicyFlag } from './api.ts';
import type { World } from './world.ts';

/**
 * The exit policy of one instance: the flag of this command, else its workspace's, else the global one
 * (docs/configuration.md#exit-policy). A flag needs no configuration, so a broken one does not stand in its way.
 */
export async function exitPolicyOf(world: World, manifest: Manifest, flag: PolicyFlag): Promise<ExitPolicy> {
  if (flag !== null) return { value: flag, source: 'flag' };
  const loaded = await world.config();
  const name = manifest.workspace_name;
  const workspace = name === null ? null : (loaded.workspaces.get(name) ?? ('missing' as const));
  return resolveExitPolicy({ flag, workspace, global: loaded.config });
}
