import type { Jackin } from './api.ts';
import { doctor } from './doctor.ts';
import { eject, exile } from './eject.ts';
import { hardline } from './hardline.ts';
import { load } from './load.ts';
import { purge } from './purge.ts';
import { resume, resumeAll } from './resume.ts';
import { status } from './status.ts';
import { stop } from './stop.ts';
import { createWorld, type JackinDeps } from './world.ts';

export * from './api.ts';
export type { JackinDeps } from './world.ts';

/** Every verb over one set of dependencies. Each call is one command: it reads the configuration once. */
export function createJackin(deps: JackinDeps): Jackin {
  const command = () => createWorld(deps);
  return {
    load: (request) => load(command(), request),
    resume: (request) => resume(command(), request),
    resumeAll: (request) => resumeAll(command(), request),
    hardline: (request) => hardline(command(), request),
    status: (request) => status(command(), request),
    stop: (request) => stop(command(), request),
    eject: (request) => eject(command(), request),
    purge: (request) => purge(command(), request),
    exile: (request) => exile(command(), request),
    doctor: () => doctor(command()),
  };
}
