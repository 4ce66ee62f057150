import { type Edited, removeWorkspace, resolveExitPolicy } from '@jackin/config';
import { decisionNeeded } from '../guards.ts';
import type { World } from '../world.ts';
import type { ConfigurationResult, EditDocument } from './documents.ts';
import { editResult } from './edit-result.ts';
import { manifestsOf, workspaceInstance } from './workspace-instances.ts';

interface RemoveRequest {
  name: string;
  yes: boolean;
  dryRun: boolean;
}

/**
 * `jackin workspace remove NAME` (docs/configuration.md#removing-a-workspace): its file goes, after a question. Its
 * instances are named with what changes for them, and not touched.
 */
export async function remove(world: World, request: RemoveRequest): Promise<ConfigurationResult> {
  const { name, yes, dryRun } = request;
  const { events, paths } = world;
  const planned = await removeWorkspace(paths, name, { events, dryRun: true });
  const instances = await instancesLeft(world, name);
  const result = (edited: Edited) => editResult('removed', `workspace ${name}`, edited, dryRun, instances);
  if (dryRun) return result(planned);
  if (!yes && !(await confirmed(world, name, planned.file, instances))) {
    return { kind: 'cancelled', document: { cancelled: true }, exitCode: 0 };
  }
  return result(await removeWorkspace(paths, name, { events }));
}

async function confirmed(
  world: World,
  name: string,
  file: string,
  instances: EditDocument['instances'],
): Promise<boolean> {
  const warnings = instances.map((one) => `${one.container_base} (${one.status}) ${one.effect}`);
  if (!world.prompts.available) {
    const command = `jackin workspace remove ${name} --yes`;
    throw decisionNeeded(
      `Removing the workspace ${name} deletes ${file}, and nobody can be asked`,
      `Confirm it with: ${command}`,
      { commands: [command], instances },
    );
  }
  return world.prompts.confirm({ title: `remove the workspace ${name}`, removes: [file], warnings });
}

async function instancesLeft(world: World, name: string): Promise<EditDocument['instances']> {
  const manifests = await manifestsOf(world, name);
  if (manifests.length === 0) return [];
  const policy = await policyChange(world, name);
  return manifests.map((manifest) => ({
    ...workspaceInstance(manifest),
    effect: `stays: jackin resume ${manifest.instance_id}${policy}`,
    done: true,
  }));
}

/** In words; empty where nothing changes, or the configuration cannot be read: to remove a broken file is right. */
async function policyChange(world: World, name: string): Promise<string> {
  try {
    const { config, workspaces } = await world.config();
    const now = resolveExitPolicy({ flag: null, workspace: workspaces.get(name) ?? null, global: config });
    const then = resolveExitPolicy({ flag: null, workspace: 'missing', global: config });
    return now.value === then.value ? '' : `; its exit policy is ${then.value} then, not ${now.value}`;
  } catch {
    return '';
  }
}
