import { JackinError } from '@jackin/core';
import { engineWords } from './errors.ts';

const AGAIN = 'then run the same command again.';

/** Something of our name without our labels: left alone, whatever it is. */
export function nameTaken(
  kind: 'container' | 'network' | 'volume' | 'sidecar' | 'image',
  name: string,
): JackinError {
  const thing = kind === 'sidecar' ? 'container' : kind;
  const hint =
    thing === 'image'
      ? `Give it another name with \`docker tag ${name} NEW_NAME\` and remove this one with \`docker rmi ${name}\`, ${AGAIN} jackin leaves it alone.`
      : thing === 'container'
        ? `Give it another name with \`docker rename ${name} NEW_NAME\`, ${AGAIN} jackin leaves it alone.`
        : `Look at it with \`docker ${thing} inspect ${name}\` and remove it if nobody needs it, ${AGAIN} jackin leaves it alone.`;
  return new JackinError({
    code: 'NAME_TAKEN_BY_FOREIGN',
    message: `There is ${thing === 'image' ? 'an' : 'a'} ${thing} named ${name} that jackin did not make`,
    hint,
    details: { kind: thing, name },
  });
}

export function containerMissing(name: string, instanceId: string): JackinError {
  return new JackinError({
    code: 'CONTAINER_MISSING',
    message: `The container ${name} does not exist`,
    hint: `Run \`jackin resume ${instanceId}\` to make it again from its image.`,
    details: { name },
  });
}

export function containerRunning(name: string, instanceId: string): JackinError {
  return new JackinError({
    code: 'CONTAINER_RUNNING',
    message: `${name} runs, so it was not removed`,
    hint: `Run \`jackin stop ${instanceId}\` first.`,
    details: { name },
  });
}

export function otherEngine(base: string, answered: string, home: string): JackinError {
  return new JackinError({
    code: 'OTHER_ENGINE',
    message: `${base} lives on ${home}, but ${answered} answered, so nothing was done`,
    hint: `Run the same command with DOCKER_HOST=${home}.`,
    details: { endpoint: answered, instance_endpoint: home },
  });
}

export function imageGone(image: string, base: string, cause?: unknown): JackinError {
  return new JackinError({
    code: 'IMAGE_GONE',
    message: `The image of ${base} is gone: ${image}`,
    hint: `Its state is kept. Load the image again (\`docker load\`), ${AGAIN}`,
    details: { image_id: image },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** `unused`: networks of ours without a container. */
export function poolsExhausted(network: string, unused: readonly string[], cause: unknown): JackinError {
  const ours =
    unused.length === 0
      ? "none of jackin's networks is unused"
      : `${unused.length} of jackin's networks have no container`;
  return new JackinError({
    code: 'ADDRESS_POOLS_EXHAUSTED',
    message: `The engine has no address range left for the network ${network}; ${ours}. Nothing was removed`,
    hint: `See what is left over with \`jackin doctor\`; \`docker network prune\` removes every unused network of the engine. Then run the same command again.`,
    details: { network, unused_networks: unused.length, networks: unused.slice(0, 50) },
    cause,
  });
}

const MISSING_SOURCE = /bind source path does not exist:?\s*(.*)$/m;

/** A refused creation or start by what the engine said. Null: nothing that has a name of its own. */
export function mountOrPortProblem(error: unknown, base: string): JackinError | null {
  const words = engineWords(error);
  const details = { engine_message: words };
  const source = MISSING_SOURCE.exec(words);
  if (source !== null) {
    const path = source[1]?.trim() || null;
    return new JackinError({
      code: 'MOUNT_SOURCE_MISSING',
      message: `A directory or file that ${base} needs is gone: bind source path does not exist: ${path ?? '(not named)'}`,
      hint: `Put ${path ?? 'it'} back, ${AGAIN}`,
      details: { ...details, path },
      cause: error,
    });
  }
  if (/port is already allocated|address already in use/i.test(words)) {
    return new JackinError({
      code: 'PORT_CONFLICT',
      message: `A port that ${base} needs is taken: ${words}`,
      hint: 'Stop what uses the port; if nothing does, restart the engine. Then run the same command again.',
      details,
      cause: error,
    });
  }
  return null;
}

/** The engine's own words stay in the message: the ladder reads them (docs/status-and-causes.md#ladder). */
export function startFailed(error: unknown, base: string, instanceId: string): JackinError {
  const words = engineWords(error);
  return new JackinError({
    code: 'START_FAILED',
    message: `The engine could not start ${base}: ${words}`,
    hint: `Its state is kept. Run \`jackin doctor\`, then \`jackin resume ${instanceId}\`.`,
    details: { engine_message: words },
    cause: error,
  });
}

export function capsuleStartFailed(base: string, reason: string, logTail: string): JackinError {
  const lastLine = logTail.trim().split('\n').at(-1) ?? '';
  return new JackinError({
    code: 'CAPSULE_START_FAILED',
    message: `The capsule of ${base} could not be started: ${reason}${lastLine === '' ? '' : ` (${lastLine})`}`,
    hint: 'Run `jackin doctor`, then the same command again.',
    details: { log_tail: logTail.trim() },
  });
}

export function imageIncompatible(image: string, reason: string): JackinError {
  return new JackinError({
    code: 'IMAGE_INCOMPATIBLE',
    message: `The image ${image} cannot run jackin's capsule: ${reason}`,
    hint: 'The image needs glibc 2.28 or newer and libstdc++, as Debian 10, Ubuntu 20.04 or Fedora have; change the base image of the role.',
    details: { image, reason },
  });
}
