import {
  type Edits,
  editConfig,
  editWorkspace,
  setVariables,
  typedVariable,
  unsetVariables,
  variablesOf,
} from '@jackin/config';
import type { World } from '../world.ts';
import type { VariableVerbs } from './api.ts';
import type { ConfigurationResult } from './documents.ts';
import { editResult } from './edit-result.ts';
import { typedPair } from './typed-change.ts';
import { workspaceNotFound } from './workspaces.ts';

type Request<Verb extends keyof VariableVerbs> = Parameters<VariableVerbs[Verb]>[0];

/** `env set NAME=VALUE…` of a workspace or of `config.toml`. */
export function set(world: World, request: Request<'set'>): Promise<ConfigurationResult> {
  const { onDemand } = request;
  const typed = request.values.map((text) => typedPair('env set', text));
  // With several values the account is that of the references among them.
  const references = typed.some(([, value]) => value.startsWith('op://'));
  const values = typed.map(([name, value]) => {
    const account = references && !value.startsWith('op://') ? null : request.account;
    return [name, typedVariable(value, { onDemand, account })] as const;
  });
  return change(world, request, setVariables(request, Object.fromEntries(values)));
}

/** `env unset NAME…` */
export function unset(world: World, request: Request<'unset'>): Promise<ConfigurationResult> {
  return change(world, request, unsetVariables(request, request.names));
}

/** `env list`: every layer of the file, or one role's; literal values are not shown. */
export async function list(
  world: World,
  { workspace: name, role }: Request<'list'>,
): Promise<ConfigurationResult> {
  const { config, workspaces } = await world.config();
  const workspace = name === null ? null : workspaces.get(name);
  if (workspace === undefined) throw workspaceNotFound(String(name), [...workspaces.keys()]);
  const variables = variablesOf(workspace ?? config, role);
  return { kind: 'variables', document: { subject: subjectOf(name), variables }, exitCode: 0 };
}

async function change(
  world: World,
  { workspace, dryRun }: { workspace: string | null; dryRun: boolean },
  edits: Edits,
): Promise<ConfigurationResult> {
  const { events, paths } = world;
  const options = { events, dryRun };
  const edited =
    workspace === null
      ? await editConfig(paths, edits, options)
      : await editWorkspace(paths, workspace, edits, options);
  return editResult('changed', subjectOf(workspace), edited, dryRun);
}

function subjectOf(workspace: string | null): string {
  return workspace === null ? 'config.toml' : `workspace ${workspace}`;
}
