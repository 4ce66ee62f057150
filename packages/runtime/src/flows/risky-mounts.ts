import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { credentialStoreOf, credentialStores, isInside, type MountSpec } from '@jackin/config';
import type { JackinPaths } from '@jackin/core';

export interface RiskOptions {
  paths: Pick<JackinPaths, 'homeDir' | 'configDir'>;
  /** What `~` means. */
  home: string;
  /** Sockets through which an engine can be told what to do. */
  engineSockets: readonly string[];
}

/**
 * What a mount gives an agent that no project needs: credentials, jackin's own files, an engine
 * (docs/configuration.md#mount-rules). In words for a question; empty for a usual one.
 */
export async function mountRisks({ src }: Pick<MountSpec, 'src'>, options: RiskOptions): Promise<string[]> {
  const { paths, home, engineSockets } = options;
  const risks: string[] = [];
  const store = credentialStoreOf(src) ?? (await storeInside(src, home));
  if (store !== null) risks.push(`${src} holds credentials (${store}): the agent can read them.`);
  const own = [paths.homeDir, paths.configDir].find((dir) => isInside(src, dir) || isInside(dir, src));
  if (own !== undefined && (isInside(src, own) || (await exists(own)))) {
    risks.push(
      `${src} holds what jackin keeps in ${own}: the agent could change other sessions and settings.`,
    );
  }
  const socket = engineSockets.find((path) => isInside(path, src));
  if ((await isSocket(src)) || (socket !== undefined && (await isSocket(socket)))) {
    risks.push(`${src} leads to a container engine or another service: the agent could leave its container.`);
  }
  return risks;
}

async function storeInside(src: string, home: string): Promise<string | null> {
  for (const store of credentialStores) {
    const path = join(home, store);
    if (isInside(path, src) && (await exists(path))) return store;
  }
  return null;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function isSocket(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isSocket(),
    () => false,
  );
}
