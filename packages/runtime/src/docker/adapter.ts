import { backendOf } from '@jackin/instance';
import type { Backend } from '../backend.ts';
import { engineFor } from './acting.ts';
import { changedPaths } from './changes.ts';
import { createConnector } from './connect.ts';
import { createResources } from './create.ts';
import { dockerFindings } from './doctor.ts';
import { pinImage } from './keep.ts';
import { observeEngine } from './observe.ts';
import type { DockerDeps, DockerOptions } from './options.ts';
import { probe } from './probe.ts';
import { removeResource } from './remove.ts';
import { renameContainer } from './rename.ts';
import { startContainer } from './start.ts';
import { stopContainer } from './stop.ts';
import { capsuleEndpoint } from './transport.ts';

/**
 * The backend on a container engine (docs/architecture.md#backends). Identity is our labels; what lacks them is never
 * used, started, stopped, renamed or removed. Every call is bounded, and an engine that does not answer is an answer of
 * `observe` and an error of everything else.
 */
export function createDockerBackend(options: DockerOptions): Backend {
  const deps: DockerDeps = { ...options, connector: createConnector(options.env) };
  return {
    kind: 'docker',
    observe(refs, signal) {
      const ours = refs.filter(({ manifest }) => backendOf(manifest) === 'docker');
      return observeEngine(deps.connector, ours, signal);
    },
    capsule: (ref) => capsuleEndpoint(deps, ref),
    create: (context) => createResources(deps, context),
    start: (context) => startContainer(deps, context),
    probe: (ref, what, signal) => probe(deps, ref, what, signal),
    stop: (ref, graceMs, signal) => stopContainer(deps, ref, graceMs, signal),
    async endLeftovers(_ref, signal) {
      // Nothing outlives a container.
      signal.throwIfAborted();
      return [];
    },
    remove: (ref, what, signal) => removeResource(deps, ref, what, signal),
    rename: (ref, to, signal) => renameContainer(deps, ref, to, signal),
    async pinImage(ref, imageId, signal) {
      await pinImage(await engineFor(deps, ref, signal), ref, imageId, signal);
    },
    changedPaths: (ref, signal) => changedPaths(deps, ref, signal),
    doctor: (signal) => dockerFindings(deps, signal),
  };
}
