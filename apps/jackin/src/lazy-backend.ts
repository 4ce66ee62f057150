import type { Backend } from '@jackin/runtime';

/** A backend whose code is loaded when it is first asked for: most commands never need the engine's client. */
export function lazyBackend(kind: Backend['kind'], open: () => Promise<Backend>): Backend {
  let opened: Promise<Backend> | undefined;
  const backend = (): Promise<Backend> => {
    opened ??= open();
    return opened;
  };
  return {
    kind,
    observe: async (refs, signal) => (await backend()).observe(refs, signal),
    capsule: (ref) => ({ open: async (signal) => (await backend()).capsule(ref).open(signal) }),
    create: async (context) => (await backend()).create(context),
    start: async (context) => (await backend()).start(context),
    probe: async (ref, what, signal) => (await backend()).probe(ref, what, signal),
    stop: async (ref, graceMs, signal) => (await backend()).stop(ref, graceMs, signal),
    endLeftovers: async (ref, signal) => (await backend()).endLeftovers(ref, signal),
    remove: async (ref, what, signal) => (await backend()).remove(ref, what, signal),
    rename: async (ref, to, signal) => (await backend()).rename(ref, to, signal),
    pinImage: async (ref, imageId, signal) => (await backend()).pinImage(ref, imageId, signal),
    changedPaths: async (ref, signal) => (await backend()).changedPaths(ref, signal),
    doctor: async (signal) => (await backend()).doctor(signal),
  };
}
