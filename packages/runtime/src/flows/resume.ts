import { interruptedByHostLoss } from '../decide/candidates.ts';
import type { InstanceFacts } from '../facts.ts';
import { inParallel } from '../parallel.ts';
import type { FlowResult, PolicyFlag, ResumeAllDocument, ResumeRequest } from './api.ts';
import { attachSession } from './attached.ts';
import type { RestoreConsent } from './consent.ts';
import { failureOf, plansResult } from './failures.ts';
import { refuseInside, requireTerminal } from './guards.ts';
import { reconcile } from './reconcile.ts';
import { previewRestore, restoreInstance } from './restore.ts';
import { namedInstance } from './select.ts';
import type { World } from './world.ts';

const PARALLEL_RESTORES = 4;

/** `jackin resume ID`: brings it back, reports how, and attaches unless told not to. */
export async function resume(world: World, request: ResumeRequest): Promise<FlowResult> {
  refuseInside(world, 'resume');
  if (!request.detach && !request.dryRun) requireTerminal(world, 'resume', '--detach');
  if (!request.dryRun) await reconcile(world);
  const { container_base: base } = await namedInstance(world, request.instance);
  if (request.dryRun) {
    return { kind: 'plan', document: { plan: await previewRestore(world, base, request) }, exitCode: 0 };
  }
  return resumeInstance(world, base, request);
}

/** The same for an instance that is known by its base name; `load` and `hardline` end here too. */
export async function resumeInstance(
  world: World,
  base: string,
  options: RestoreConsent & { detach: boolean; policy: PolicyFlag },
): Promise<FlowResult> {
  const { document, sessionId } = await restoreInstance(world, base, options);
  if (options.detach) return { kind: 'resume', document, exitCode: 0 };
  const lost = document.did_not_return.map((what) => what.replaceAll('_', ' ')).join(', ');
  world.events({
    type: 'notice',
    level: 'info',
    code: 'RESUMED',
    message: `${base} is back at tier ${document.tier} after ${document.elapsed_ms} ms${lost === '' ? '' : `; did not return: ${lost}`}`,
  });
  return attachSession(world, base, { sessionId, policy: options.policy });
}

/** `jackin resume --all`: everything the last loss of host or engine interrupted, detached, a few at a time. */
export async function resumeAll(
  world: World,
  request: RestoreConsent & { dryRun: boolean },
): Promise<FlowResult> {
  refuseInside(world, 'resume');
  const { facts } = request.dryRun ? await world.look() : await reconcile(world);
  const interrupted = interruptedByHostLoss(facts, world.now());
  // Nobody can answer for several at once.
  const quiet: World = { ...world, prompts: { ...world.prompts, available: false } };
  if (request.dryRun) {
    return plansResult(interrupted, (one) => previewRestore(quiet, one.container_base, request));
  }
  const results = await inParallel(interrupted, PARALLEL_RESTORES, (one) => restoreOne(quiet, one, request));
  const document: ResumeAllDocument = {
    resumed: results.flatMap((result) => ('document' in result ? [result.document] : [])),
    failed: results.flatMap((result) => ('failure' in result ? [result.failure] : [])),
  };
  return { kind: 'resume_all', document, exitCode: document.failed.length === 0 ? 0 : 1 };
}

async function restoreOne(world: World, facts: InstanceFacts, consent: RestoreConsent) {
  const started = world.clock.monotonicMs();
  const base = facts.container_base;
  const stage = `resume ${base}`;
  try {
    const { document } = await restoreInstance(world, base, consent);
    world.events({ type: 'stage', stage, state: 'done', elapsed_ms: world.clock.monotonicMs() - started });
    return { document };
  } catch (thrown) {
    const failure = failureOf(facts, thrown);
    world.events({ type: 'stage', stage, state: 'failed', detail: failure.error.message });
    return { failure };
  }
}
