/** Every status an instance can have on disk (docs/status-and-causes.md). */
export const STATUSES = [
  'active',
  'running',
  'clean_exited',
  'crashed',
  'host_lost',
  'stopped',
  'preserved_dirty',
  'preserved_unpushed',
  'restore_available',
  'failed_setup',
  'superseded',
  'purged',
] as const;
export type Status = (typeof STATUSES)[number];

/** Why a session ended. `cause` in every document is one of these strings, or null. */
export const CAUSE_KINDS = [
  'clean',
  'agent_crash',
  'jackin_stop',
  'oom',
  'engine_restart',
  'host_restart',
  'stopped_by_other',
  'killed',
  'capsule_crash',
  'setup_failed',
  'unknown',
] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];
