import {
  createResources,
  pinImage,
  removeEngineResource,
  renameContainer,
  startContainer,
} from './container-steps.ts';
import type { HandlerTable } from './ports.ts';
import {
  createInstance,
  prepareSocketDir,
  rebuildIndex,
  recordStatus,
  recordWorkspace,
} from './record-steps.ts';
import { removeDataDir, removeIndexRow, removeLock, removeSocketDir } from './removal-steps.ts';
import { reconnect, startSession, writeAgentConfigStep } from './session-steps.ts';
import { endLeftovers, stopContainer } from './stop-steps.ts';
import {
  checkTrees,
  materialiseTrees,
  recreateTree,
  removeIsolatedTrees,
  repairRegistration,
} from './tree-steps.ts';

/** One handler per operation: a plan can say nothing that is not here, and the type checker counts them. */
export const handlers: HandlerTable = {
  create_instance: createInstance,
  record_status: recordStatus,
  record_workspace: recordWorkspace,
  prepare_socket_dir: prepareSocketDir,
  write_agent_config: writeAgentConfigStep,
  create_resources: createResources,
  start_container: startContainer,
  start_session: startSession,
  reconnect,
  stop_container: stopContainer,
  end_leftovers: endLeftovers,
  rename_container: renameContainer,
  pin_image: pinImage,
  remove_container: removeEngineResource('container'),
  remove_sidecar: removeEngineResource('sidecar'),
  remove_network: removeEngineResource('network'),
  remove_volume: removeEngineResource('volume'),
  remove_keep_tag: removeEngineResource('keep_tag'),
  materialise_trees: materialiseTrees,
  check_trees: checkTrees,
  repair_registration: repairRegistration,
  recreate_tree: recreateTree,
  remove_isolated_trees: removeIsolatedTrees,
  remove_data_dir: removeDataDir,
  remove_socket_dir: removeSocketDir,
  remove_lock: removeLock,
  remove_index_row: removeIndexRow,
  rebuild_index: rebuildIndex,
};
