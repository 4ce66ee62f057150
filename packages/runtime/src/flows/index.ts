import type { Jackin } from './api.ts';
import { assessPath } from './assess.ts';
import { configurationVerbs } from './configuration/index.ts';
import { doctor } from './doctor.ts';
import { eject, exile } from './eject.ts';
import { hardline } from './hardline.ts';
import { load } from './load.ts';
import { migrateConfiguration } from './migrate-configuration.ts';
import { purge } from './purge.ts';
import { resume, resumeAll } from './resume.ts';
import { status } from './status.ts';
import { stop } from './stop.ts';
import { createWorld, type JackinDeps, type World } from './world.ts';

export * from './api.ts';
export type * from './configuration/api.ts';
export type * from './configuration/documents.ts';
export type { JackinDeps } from './world.ts';

/** Every verb over one set of dependencies. Each call is one command: it reads the configuration once. */
export function createJackin(deps: JackinDeps): Jackin {
  /** One that only looks, or only plans, writes nothing; the others bring the operator's files up to date first. */
  const command = async (looks: boolean): Promise<World> => {
    const world = createWorld(deps);
    if (!looks) await migrateConfiguration(world, { edits: false });
    return world;
  };
  return {
    load: async (request) => load(await command(request.dryRun), request),
    resume: async (request) => resume(await command(request.dryRun), request),
    resumeAll: async (request) => resumeAll(await command(request.dryRun), request),
    hardline: async (request) => hardline(await command(request.mode === 'inspect'), request),
    status: async (request) => status(await command(true), request),
    stop: async (request) => stop(await command(request.dryRun), request),
    eject: async (request) => eject(await command(request.dryRun), request),
    purge: async (request) => purge(await command(request.dryRun), request),
    exile: async (request) => exile(await command(request.dryRun), request),
    assess: async (request) => assessPath(await command(true), request),
    doctor: async () => doctor(await command(true)),
    ...configurationVerbs(deps),
  };
}
