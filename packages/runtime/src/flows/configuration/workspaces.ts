import {
  createWorkspace,
  editWorkspace,
  resolveExitPolicy,
  settingsOf,
  workspaceEdits,
} from '@jackin/config';
import { JackinError } from '@jackin/core';
import type { World } from '../world.ts';
import type { TypedWorkspaceChange } from './api.ts';
import type { ConfigurationResult } from './documents.ts';
import { editResult } from './edit-result.ts';
import { configuredExitPolicy } from './settings.ts';
import { typedChange } from './typed-change.ts';
import { manifestsOf, workspaceInstance } from './workspace-instances.ts';

interface ChangeRequest {
  name: string;
  change: TypedWorkspaceChange;
  dryRun: boolean;
}

/** `jackin workspace create NAME`: without a mount the working directory is one, at its own path. */
export async function create(
  world: World,
  { name, change, dryRun }: ChangeRequest,
): Promise<ConfigurationResult> {
  const typed = typedChange(world, change);
  const [first] = typed.addMounts ?? [];
  const here = { src: world.cwd, dst: world.cwd, readonly: false, isolation: 'shared' as const };
  const wanted = {
    ...typed,
    workdir: typed.workdir ?? first?.dst ?? world.cwd,
    addMounts: first === undefined ? [{ ...here, ...at(typed.workdir) }] : (typed.addMounts ?? []),
  };
  const { events, paths } = world;
  const edited = await createWorkspace(paths, name, workspaceEdits(wanted, {}), { events, dryRun });
  return editResult('created', `workspace ${name}`, edited, dryRun);
}

/** `jackin workspace edit NAME`: all of the changes, or none. */
export async function edit(
  world: World,
  { name, change, dryRun }: ChangeRequest,
): Promise<ConfigurationResult> {
  const wanted = typedChange(world, change);
  const { events, paths } = world;
  const edited = await editWorkspace(paths, name, (current) => workspaceEdits(wanted, current), {
    events,
    dryRun,
  });
  return editResult('changed', `workspace ${name}`, edited, dryRun);
}

/** `jackin workspace list` */
export async function list(world: World): Promise<ConfigurationResult> {
  const { config, workspaces, sources } = await world.config();
  const { instances } = await world.store.load();
  const rows = [...workspaces].map(([name, workspace]) => ({
    name,
    file: sources?.workspaces.get(name)?.file ?? '',
    workdir: workspace.workdir,
    mounts: workspace.mounts.map(({ src, dst, readonly, isolation }) => ({ src, dst, readonly, isolation })),
    default_role: workspace.default_role ?? null,
    default_agent: workspace.default_agent ?? null,
    exit_policy: configuredExitPolicy(resolveExitPolicy({ flag: null, workspace, global: config })),
    instances: instances.filter((one) => one.workspace_name === name).length,
  }));
  return { kind: 'workspaces', document: { workspaces: rows }, exitCode: 0 };
}

/** `jackin workspace show NAME`: what its file says, what counts without it, and its instances. */
export async function show(world: World, { name }: { name: string }): Promise<ConfigurationResult> {
  const { config, workspaces, sources, problems } = await world.config();
  const workspace = workspaces.get(name);
  if (workspace === undefined) throw workspaceNotFound(name, [...workspaces.keys()]);
  const source = sources?.workspaces.get(name);
  const document = {
    subject: `workspace ${name}`,
    file: source?.file ?? null,
    settings: settingsOf(workspace, source),
    exit_policy: configuredExitPolicy(resolveExitPolicy({ flag: null, workspace, global: config })),
    instances: (await manifestsOf(world, name)).map(workspaceInstance),
    problems: problems
      .filter(({ file }) => file === source?.file)
      .map(({ file, reason, line = null }) => ({ file, reason, line })),
  };
  return { kind: 'settings', document, exitCode: 0 };
}

export function workspaceNotFound(name: string, known: string[]): JackinError {
  return new JackinError({
    code: 'WORKSPACE_NOT_FOUND',
    message: `There is no workspace ${JSON.stringify(name)}`,
    hint:
      known.length === 0 ? 'Make one with: jackin workspace create NAME' : `Workspaces: ${known.join(', ')}`,
    details: { name, workspaces: known },
    exitCode: 2,
  });
}

function at(workdir: string | undefined): { src: string; dst: string } | undefined {
  return workdir === undefined ? undefined : { src: workdir, dst: workdir };
}
