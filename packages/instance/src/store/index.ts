export { createInstanceStore, type InstanceStore } from './store.ts';
export type {
  CorruptRecord,
  InstanceStoreOptions,
  IsolationState,
  LoadedState,
  ResolvedInstance,
} from './types.ts';
