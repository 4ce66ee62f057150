import { realpath, stat } from 'node:fs/promises';
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
  const sources = await namesOf(src);
  const typed = sources.map(credentialStoreOf).find((store) => store !== null) ?? null;
  const store = typed ?? (await storeAmong(sources, home));
  if (store !== null) risks.push(`${src} holds credentials (${store}): the agent can read them.`);
  for (const own of [paths.homeDir, paths.configDir]) {
    const names = await namesOf(own);
    const inside = reaches(names, sources);
    if (!inside && !(reaches(sources, names) && (await exists(own)))) continue;
    risks.push(
      `${src} holds what jackin keeps in ${own}: the agent could change other sessions and settings.`,
    );
    break;
  }
  if ((await isSocket(src)) || (await socketAmong(sources, engineSockets))) {
    risks.push(`${src} leads to a container engine or another service: the agent could leave its container.`);
  }
  return risks;
}

/** A path as it is written and as it is without links: either may be what somebody named. */
async function namesOf(path: string): Promise<string[]> {
  const real = await realpath(path).catch(() => path);
  return real === path ? [path] : [path, real];
}

/** Whether one of `paths` is one of `directories` or lies in it. */
function reaches(directories: readonly string[], paths: readonly string[]): boolean {
  return directories.some((directory) => paths.some((path) => isInside(path, directory)));
}

/** The store one of the sources contains, or lies in by way of a link. */
async function storeAmong(sources: readonly string[], home: string): Promise<string | null> {
  for (const store of credentialStores) {
    const path = join(home, store);
    if (!(await exists(path))) continue;
    const names = [
      ...new Set([...(await namesOf(path)), ...(await namesOf(home)).map((at) => join(at, store))]),
    ];
    if (reaches(sources, names) || reaches(names, sources)) return store;
  }
  return null;
}

async function socketAmong(sources: readonly string[], sockets: readonly string[]): Promise<boolean> {
  for (const socket of sockets) {
    if (reaches(sources, await namesOf(socket)) && (await isSocket(socket))) return true;
  }
  return false;
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
