import { backendOf } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import { NOT_RUNNING, type StepDraft } from './plan-parts.ts';

/** What KEEP and eject take away from the engine, after what runs was ended. */
interface Freeing {
  steps: StepDraft[];
  /** The image the kept instance is pinned to. */
  imageId: string | null;
  /** Why the container has to stay, or null. */
  stays: string | null;
}

/**
 * Pins the image, then removes container, sidecar, volume and network. Each removal rests on its own fact: what is
 * foreign or could not be seen is left alone. Without an image that can be pinned the container is the last way
 * back to this state, so it stays, and with it the network it needs (docs/status-and-causes.md#keep).
 */
export function freeing(facts: InstanceFacts): Freeing {
  const { container, image } = facts.observation;
  if (backendOf(facts.manifest) === 'standalone') {
    return { steps: containerSteps(facts, false), imageId: null, stays: null };
  }
  const byId = image?.by_id ?? { state: 'unknown' as const, reason: 'the image was not looked at' };
  if (byId.state === 'present') {
    const pin: StepDraft = {
      op: 'pin_image',
      image_id: byId.image_id,
      creates: [`image tag jk-keep:${facts.instance_id}`],
    };
    return { steps: [pin, ...engineSteps(facts)], imageId: byId.image_id, stays: null };
  }
  if (container.state === 'missing') return { steps: engineSteps(facts), imageId: null, stays: null };
  const stays =
    byId.state === 'missing' ? 'its image is gone' : `its image cannot be pinned (${byId.reason})`;
  return { steps: [], imageId: null, stays };
}

/**
 * Container, sidecar, volume, network, in this order: those that are there and ours.
 * @param complete also try what could not be seen, and the traces of a process that is gone: the backend removes only
 *   what carries our identity, and CLEAN must leave nothing
 */
export function engineSteps(facts: InstanceFacts, complete = false): StepDraft[] {
  const { sidecar, volume, network } = facts.observation;
  const { docker, container_base: base } = facts.manifest;
  const steps = containerSteps(facts, complete);
  const there = (state: string | null | undefined): boolean =>
    state === 'present' ||
    state === 'running' ||
    state === 'stopped' ||
    (complete && (state === 'unknown' || state === 'unreachable'));
  if (there(sidecar?.state)) {
    const name = docker.dind_container ?? `${base}-dind`;
    steps.push({ op: 'remove_sidecar', removes: [`sidecar ${name}`], requires: [NOT_RUNNING] });
  }
  if (there(volume)) {
    const name = docker.certs_volume ?? `${base}-dind-certs`;
    steps.push({ op: 'remove_volume', removes: [`volume ${name}`], requires: [NOT_RUNNING] });
  }
  if (there(network)) {
    steps.push({ op: 'remove_network', removes: [`network ${docker.network}`], requires: [NOT_RUNNING] });
  }
  return steps;
}

function containerSteps(facts: InstanceFacts, complete: boolean): StepDraft[] {
  const { container } = facts.observation;
  const standalone = backendOf(facts.manifest) === 'standalone';
  const there = container.state === 'running' || container.state === 'stopped';
  if (!there && !complete) return [];
  const what = standalone ? 'capsule process of' : 'container';
  // Where it is missing there may be one that a restore put aside.
  const removes = there || standalone ? [`${what} ${facts.container_base}`] : [];
  return [{ op: 'remove_container', removes, requires: [NOT_RUNNING] }];
}
