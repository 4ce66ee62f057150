import { Assess } from './commands/assess.ts';
import { ConfigAuth } from './commands/config/auth.ts';
import { ConfigEnvList } from './commands/config/env/list.ts';
import { ConfigEnvSet } from './commands/config/env/set.ts';
import { ConfigEnvUnset } from './commands/config/env/unset.ts';
import { ConfigExitPolicy } from './commands/config/exit-policy.ts';
import { ConfigMountAdd } from './commands/config/mount/add.ts';
import { ConfigMountList } from './commands/config/mount/list.ts';
import { ConfigMountRemove } from './commands/config/mount/remove.ts';
import { ConfigSet } from './commands/config/set.ts';
import { ConfigShow } from './commands/config/show.ts';
import { ConfigTrust } from './commands/config/trust.ts';
import { ConfigUnset } from './commands/config/unset.ts';
import { Doctor } from './commands/doctor.ts';
import { Eject } from './commands/eject.ts';
import { Exile } from './commands/exile.ts';
import { Hardline } from './commands/hardline.ts';
import { Load } from './commands/load.ts';
import { Purge } from './commands/purge.ts';
import { Resume } from './commands/resume.ts';
import { RoleCreate } from './commands/role/create.ts';
import { RoleList } from './commands/role/list.ts';
import { RoleMigrate } from './commands/role/migrate.ts';
import { RoleValidate } from './commands/role/validate.ts';
import { Status } from './commands/status.ts';
import { Stop } from './commands/stop.ts';
import { WorkspaceCreate } from './commands/workspace/create.ts';
import { WorkspaceEdit } from './commands/workspace/edit.ts';
import { WorkspaceEnvList } from './commands/workspace/env/list.ts';
import { WorkspaceEnvSet } from './commands/workspace/env/set.ts';
import { WorkspaceEnvUnset } from './commands/workspace/env/unset.ts';
import { WorkspaceList } from './commands/workspace/list.ts';
import { WorkspaceRemove } from './commands/workspace/remove.ts';
import { WorkspaceRename } from './commands/workspace/rename.ts';
import { WorkspaceShow } from './commands/workspace/show.ts';

/** Every verb by its name: oclif's explicit command table. */
export const commands = {
  assess: Assess,
  'config:auth': ConfigAuth,
  'config:env:list': ConfigEnvList,
  'config:env:set': ConfigEnvSet,
  'config:env:unset': ConfigEnvUnset,
  'config:exit-policy': ConfigExitPolicy,
  'config:mount:add': ConfigMountAdd,
  'config:mount:list': ConfigMountList,
  'config:mount:remove': ConfigMountRemove,
  'config:set': ConfigSet,
  'config:show': ConfigShow,
  'config:trust': ConfigTrust,
  'config:unset': ConfigUnset,
  doctor: Doctor,
  eject: Eject,
  exile: Exile,
  hardline: Hardline,
  load: Load,
  purge: Purge,
  resume: Resume,
  'role:create': RoleCreate,
  'role:list': RoleList,
  'role:migrate': RoleMigrate,
  'role:validate': RoleValidate,
  status: Status,
  stop: Stop,
  'workspace:create': WorkspaceCreate,
  'workspace:edit': WorkspaceEdit,
  'workspace:env:list': WorkspaceEnvList,
  'workspace:env:set': WorkspaceEnvSet,
  'workspace:env:unset': WorkspaceEnvUnset,
  'workspace:list': WorkspaceList,
  'workspace:remove': WorkspaceRemove,
  'workspace:rename': WorkspaceRename,
  'workspace:show': WorkspaceShow,
};

/** What the words before a verb stand for. */
export const topics: Record<string, { description: string }> = {
  config: { description: 'Look at and change config.toml.' },
  'config:env': { description: 'Variables of every session, or of one role.' },
  'config:mount': { description: 'Mounts of every session in a container.' },
  role: { description: 'Make and check roles.' },
  workspace: { description: 'Make, look at and change workspaces.' },
  'workspace:env': { description: 'Variables of a workspace, or of a role in it.' },
};
