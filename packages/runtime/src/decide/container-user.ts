import { JackinError, type Owner } from '@jackin/core';
import type { Manifest, Recipe } from '@jackin/instance';

/** Who an instance runs as when its sources belong to root and its agent refuses to be root. */
const UNPRIVILEGED: Owner = { uid: 1000, gid: 1000 };

export interface ContainerUserInput {
  /** The mounts in their order; the first one decides. */
  mounts: readonly { src: string; isolation: 'shared' | 'worktree' | 'clone'; owner: Owner }[];
  agent: { id: string; refusesRoot: boolean };
  /** Who runs jackin: only root can give files to somebody else. */
  host: Owner;
  /** In a container of the engine root is `host`, and every other user is nobody's outside. */
  rootless: boolean;
}

export type ContainerUser =
  /** `outside`: who that is on the host, where it is another number. */
  { outcome: 'user'; owner: Owner; outside?: Owner } | { outcome: 'refused'; error: JackinError };

/**
 * The user of a container (docs/architecture.md#user): the owner of the first mount's source, so that what the agent
 * writes there belongs to whom it should. An agent that refuses root runs as 1000:1000 instead; trees of the
 * instance's own are given to that user, a shared source is not.
 * On a rootless engine it is root, the one user there that is somebody outside: who runs jackin.
 * Refuses with ROOT_SOURCE (a shared source of root's for such an agent) or USER_MISMATCH (a source of somebody else,
 * and jackin is not root and cannot hand over the instance's home) ROOTLESS_AGENT, or ROOTLESS_ENGINE (jackin
 * is root, and whose engine it is cannot be told).
 */
export function decideContainerUser(input: ContainerUserInput): ContainerUser {
  const { mounts, agent, host } = input;
  const [first] = mounts;
  const wanted = first?.owner ?? host;
  if (input.rootless) {
    if (host.uid === 0) return refused(rootlessRoot());
    if (wanted.uid !== host.uid) return refused(mismatch(first?.src ?? '', wanted, host));
    if (agent.refusesRoot) return refused(rootlessAgent(agent.id));
    return { outcome: 'user', owner: { uid: 0, gid: 0 }, outside: host };
  }
  const owner = wanted.uid === 0 && agent.refusesRoot ? UNPRIVILEGED : wanted;
  // A clone is the instance's own; a worktree is committed to in its repository.
  const closed = mounts.find(({ isolation, owner: of }) => isolation !== 'clone' && of.uid === 0);
  if (owner !== wanted && closed !== undefined) return refused(rootSource(agent.id, closed.src));
  if (host.uid === 0 || owner.uid === host.uid) return { outcome: 'user', owner };
  return refused(mismatch(first?.src ?? '', owner, host));
}

/** As the recipe holds it. */
export function userText({ uid, gid }: Owner): string {
  return `${uid}:${gid}`;
}

/** The other way round: whom the directories of an instance belong to; undefined: the user of this process. */
export function capsuleOwner({ recipe }: Pick<Manifest, 'recipe'>): Owner | undefined {
  if (recipe?.backend !== 'docker') return undefined;
  return ownerIn(recipe.run.host_user ?? recipe.run.user);
}

/** Who it is in the container; undefined: the user of this process. */
export function containerUser(recipe: Recipe | undefined): Owner | undefined {
  return recipe?.backend === 'docker' ? ownerIn(recipe.run.user) : undefined;
}

function ownerIn(text: string | null | undefined): Owner | undefined {
  const found = /^(\d{1,10}):(\d{1,10})$/.exec(text ?? '');
  return found === null ? undefined : { uid: Number(found[1]), gid: Number(found[2]) };
}

function refused(error: JackinError): ContainerUser {
  return { outcome: 'refused', error };
}

function rootlessRoot(): JackinError {
  return new JackinError({
    code: 'ROOTLESS_ENGINE',
    message:
      'You are root, and the engine belongs to another user: in its containers nobody is root of this machine',
    hint: 'Run jackin as the user whose engine it is, or use the engine of the machine (DOCKER_HOST or the docker context).',
    details: {},
  });
}

function rootlessAgent(agent: string): JackinError {
  return new JackinError({
    code: 'ROOTLESS_AGENT',
    message: `The agent ${agent} refuses to run as root, and on a rootless engine nobody else in a container can write your files`,
    hint: 'Use the engine of the machine (DOCKER_HOST or the docker context), run it with --backend standalone, or choose another agent with --agent',
    details: { agent },
  });
}

function rootSource(agent: string, src: string): JackinError {
  return new JackinError({
    code: 'ROOT_SOURCE',
    message: `The agent ${agent} refuses to run as root, and ${src} belongs to root, so it could not write there`,
    hint: `Give it to the user it runs as: chown -R ${userText(UNPRIVILEGED)} '${src}' - or choose another agent with --agent`,
    details: { src, agent, user: userText(UNPRIVILEGED) },
  });
}

function mismatch(src: string, owner: Owner, host: Owner): JackinError {
  return new JackinError({
    code: 'USER_MISMATCH',
    message: `${src} belongs to user id ${owner.uid} and you are ${host.uid}: the container runs as its owner, and the session's home could not be handed over`,
    hint: `Work on a directory of your own, or give it to you: sudo chown -R ${userText(host)} '${src}'`,
    details: { src, owner: userText(owner), user: userText(host) },
  });
}
