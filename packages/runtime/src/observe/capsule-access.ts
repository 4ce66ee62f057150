import { type CapsuleConnection, connectCapsule } from '@jackin/capsule/client';
import type { JackinPaths } from '@jackin/core';
import type { CapsuleEndpoint, InstanceRef } from '../backend.ts';
import { readAgentConfig } from './agent-config-file.ts';

/** Connects to the capsule of an instance with the key of its `agent.toml`. */
export interface CapsuleAccess {
  connect(ref: InstanceRef, endpoint: CapsuleEndpoint, signal: AbortSignal): Promise<CapsuleConnection>;
}

/**
 * The real capsule access: the key is read back from the instance's own `agent.toml`, so only the capsule that was
 * started with it can prove itself. `clientName` is what the capsule lists us as.
 */
export function createCapsuleAccess(options: { paths: JackinPaths; clientName: string }): CapsuleAccess {
  return {
    async connect(ref, endpoint, signal) {
      const config = await readAgentConfig(options.paths, ref.container_base);
      return connectCapsule({
        open: (opened) => endpoint.open(opened),
        instanceId: ref.instance_id,
        capsuleKey: config.capsule_key,
        clientName: options.clientName,
        signal,
      });
    },
  };
}
