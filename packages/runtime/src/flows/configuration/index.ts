import { migrateConfiguration } from '../migrate-configuration.ts';
import { createWorld, type JackinDeps, type World } from '../world.ts';
import type { ConfigVerbs, RoleVerbs, VariableVerbs, WorkspaceVerbs } from './api.ts';
import { remove } from './remove-workspace.ts';
import { rename } from './rename-workspace.ts';
import * as roles from './roles.ts';
import * as settings from './settings.ts';
import * as variables from './variables.ts';
import * as workspaces from './workspaces.ts';

/** The verbs about configuration. They need no backend. */
export function configurationVerbs(deps: JackinDeps): {
  workspaces: WorkspaceVerbs;
  variables: VariableVerbs;
  settings: ConfigVerbs;
  roles: RoleVerbs;
} {
  const looking = async (): Promise<World> => {
    const world = createWorld(deps);
    await migrateConfiguration(world, { edits: false });
    return world;
  };
  const editing = async ({ dryRun }: { dryRun: boolean }): Promise<World> => {
    const world = createWorld(deps);
    if (!dryRun) await migrateConfiguration(world, { edits: true });
    return world;
  };
  return {
    workspaces: {
      create: async (request) => workspaces.create(await editing(request), request),
      list: async () => workspaces.list(await looking()),
      show: async (request) => workspaces.show(await looking(), request),
      edit: async (request) => workspaces.edit(await editing(request), request),
      rename: async (request) => rename(await editing(request), request),
      remove: async (request) => remove(await editing(request), request),
    },
    variables: {
      set: async (request) => variables.set(await editing(request), request),
      unset: async (request) => variables.unset(await editing(request), request),
      list: async (request) => variables.list(await looking(), request),
    },
    settings: {
      show: async () => settings.show(await looking()),
      set: async (request) => settings.set(await editing(request), request),
      unset: async (request) => settings.unset(await editing(request), request),
      addMount: async (request) => settings.addMount(await editing(request), request),
      removeMount: async (request) => settings.removeMount(await editing(request), request),
      mounts: async () => settings.mounts(await looking()),
      trust: async (request) => settings.trust(await editing(request), request),
      exitPolicy: async (request) =>
        settings.exitPolicy(request.value === undefined ? await looking() : await editing(request), request),
      auth: async (request) => settings.auth(await editing(request), request),
    },
    // A role is somebody's repository: what the operator's own files look like is not its business.
    roles: {
      validate: (request) => roles.validate(createWorld(deps), request),
      migrate: (request) => roles.migrate(createWorld(deps), request),
      create: (request) => roles.create(createWorld(deps), request),
      list: () => roles.list(createWorld(deps)),
    },
  };
}
