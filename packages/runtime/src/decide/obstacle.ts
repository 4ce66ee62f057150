import { JackinError } from '@jackin/core';
import type { InstanceFacts } from '../facts.ts';
import { classifyExit, isUnprovenAbsence } from './classify-exit.ts';

/**
 * Why nothing may be planned for an instance right now, or null. Every plan that changes something asks this first:
 * an engine that does not answer, another engine, a foreign container of our name, a lock somebody else holds
 * (docs/status-and-causes.md#not-observable). Codes: ENGINE_UNREACHABLE, OTHER_ENGINE, FOREIGN_CONTAINER,
 * INSTANCE_UNOBSERVABLE, INSTANCE_BUSY.
 * @param options.unprovenAbsence `allow`: a container that is missing on this engine, of an instance whose engine was
 *   never recorded, is the caller's own question to the operator
 */
export function obstacle(
  facts: InstanceFacts,
  now: string,
  options: { unprovenAbsence?: 'refuse' | 'allow' } = {},
): JackinError | null {
  const { container_base: base, instance_id: id, engine, observation, lock } = facts;
  const { container } = observation;
  if (engine.state === 'unreachable') {
    return new JackinError({
      code: 'ENGINE_UNREACHABLE',
      message: `The engine ${base} lives on (${engine.endpoint}) does not answer: ${engine.reason}`,
      hint: 'Start the engine and run the same command again; `jackin doctor` shows what was tried.',
      details: { endpoint: engine.endpoint },
    });
  }
  if (facts.engine_matches === 'no') {
    const home = facts.manifest.engine?.endpoint ?? 'another engine';
    return new JackinError({
      code: 'OTHER_ENGINE',
      message: `${base} lives on ${home}, but ${engine.endpoint} answered`,
      hint: `Run the same command with DOCKER_HOST=${home}.`,
      details: { endpoint: engine.endpoint, instance_endpoint: home },
    });
  }
  if (facts.manifest.recipe?.run.host_user != null && engine.rootless !== true) return notRootless(facts);
  if (container.state === 'foreign') {
    return new JackinError({
      code: 'FOREIGN_CONTAINER',
      message: `A container named ${container.name} exists that jackin did not make`,
      hint: `Rename it with \`docker rename ${container.name} NEW_NAME\`; jackin leaves it alone.`,
    });
  }
  if (container.state === 'unreachable') return unobservable(base, id, container.reason);
  if (lock.state === 'unknown') return unobservable(base, id, `its lock: ${lock.reason}`);
  const classification = classifyExit(facts, now);
  if (lock.state === 'held') {
    const { owner } = lock;
    return new JackinError({
      code: 'INSTANCE_BUSY',
      message: `${base} is in use by process ${owner.pid} on ${owner.host} (${owner.purpose})`,
      hint: `Wait for it, or see \`jackin status ${id}\`.`,
      details: { owner },
    });
  }
  if (classification.outcome === 'unobservable') {
    if (options.unprovenAbsence === 'allow' && isUnprovenAbsence(facts)) return null;
    return unobservable(base, id, classification.reason);
  }
  return null;
}

/** Its root is the operator on a rootless engine only; on another one it would be the machine's. */
function notRootless({ container_base: base, engine }: InstanceFacts): JackinError {
  return new JackinError({
    code: 'OTHER_ENGINE',
    message: `${base} was made on a rootless engine, and ${engine.endpoint} is none`,
    hint: 'Run the same command with DOCKER_HOST set to the engine it was made on.',
    details: { endpoint: engine.endpoint },
  });
}

/** Ours, but whether an agent lives in it could not be found out. */
export function agentUnknown(facts: InstanceFacts): JackinError {
  const { container_base: base, instance_id: id, capsule } = facts;
  const reason = capsule.state === 'answers' ? 'it runs' : capsule.reason;
  return new JackinError({
    code: 'AGENT_STATE_UNKNOWN',
    message: `${base} runs, but its capsule does not say whether an agent is alive: ${reason}`,
    hint: `Run \`jackin stop ${id}\` first, then the same command again.`,
  });
}

function unobservable(base: string, id: string, reason: string): JackinError {
  return new JackinError({
    code: 'INSTANCE_UNOBSERVABLE',
    message: `What ${base} is doing cannot be seen: ${reason}`,
    hint: `Run \`jackin doctor\`, then \`jackin status ${id}\`.`,
  });
}
