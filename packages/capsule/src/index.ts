export {
  type MaterialiseOptions,
  materialiseRuntime,
  type Runtime,
  type RuntimeFile,
} from './runtime-dir.ts';
export { removeStaleCgroups } from './supervisor/cgroup-names.ts';
