import { JackinError } from '@jackin/core';
import type { World } from './world.ts';

/** Sessions in sessions would share names, sockets and terminals. Throws INSIDE_INSTANCE. */
export function refuseInside(world: World, verb: string): void {
  const inside = world.env.JACKIN_INSTANCE;
  if (inside === undefined || inside === '') return;
  throw new JackinError({
    code: 'INSIDE_INSTANCE',
    message: `This is already a session of the instance ${inside}; jackin ${verb} has to run outside of it`,
    hint: `Detach with Ctrl-B d (or open another terminal) and run it there.`,
    details: { instance_id: inside },
  });
}

/** Attaching needs a terminal. Throws TERMINAL_REQUIRED, a usage error. */
export function requireTerminal(world: World, verb: string, otherwise: string): void {
  if (world.terminal !== null) return;
  throw new JackinError({
    code: 'TERMINAL_REQUIRED',
    message: `jackin ${verb} attaches a terminal, and there is none`,
    hint: `Add ${otherwise}, or run it in a terminal.`,
    exitCode: 2,
  });
}

/** Nobody can be asked and the command says nothing: exit code 3. */
export function decisionNeeded(
  message: string,
  hint: string,
  details: Record<string, unknown> = {},
): JackinError {
  return new JackinError({ code: 'DECISION_NEEDED', message, hint, details, exitCode: 3 });
}
