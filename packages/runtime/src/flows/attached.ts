import { JackinError } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import type { ExitPolicy } from '../decide/exit-policy-table.ts';
import type { AttachOutcome } from '../jackin.ts';
import { readAgentConfig } from '../observe/agent-config-file.ts';
import type { FlowResult, PolicyFlag } from './api.ts';
import { backendFor } from './backend-for.ts';
import { endDocument, endResult } from './end-document.ts';
import { runExitFlow } from './exit-flow.ts';
import { exitPolicyOf } from './policy.ts';
import { RETURN, restoreUnderLock } from './restore.ts';
import { untilStopped } from './settle.ts';
import type { World } from './world.ts';

/**
 * Connects the terminal with a session until it is left, then does what its end calls for: detached, it runs on; the
 * agent ended, the exit flow; the connection lost, look and record. "Return to agent" starts a new session in the same
 * capsule and attaches again. A broken attach is never a failed launch.
 * @throws JackinError what attaching or the exit flow is refused for; the instance is kept then
 */
export async function attachSession(
  world: World,
  base: string,
  options: { sessionId: string | null; policy: PolicyFlag },
): Promise<Extract<FlowResult, { kind: 'end' }>> {
  let sessionId = options.sessionId;
  for (;;) {
    const manifest = await manifestOf(world, base);
    // Read before attaching: a broken configuration must not come up when the session is over.
    const policy = await exitPolicyOf(world, manifest, options.policy);
    const outcome = await attach(world, manifest, sessionId);
    switch (outcome.kind) {
      case 'detached':
      case 'hangup':
        return endResult(endDocument(manifest, 'detached', { status: manifest.status }));
      case 'lost':
        return lost(world, manifest, policy, outcome.reason);
      case 'ended': {
        const next = await ended(world, base, policy, outcome);
        if (next.action === 'done') return next.result;
        sessionId = next.sessionId;
      }
    }
  }
}

type AgentEnded = Extract<AttachOutcome, { kind: 'ended' }>;
type AfterEnd =
  | { action: 'done'; result: Extract<FlowResult, { kind: 'end' }> }
  | { action: 'again'; sessionId: string | null };

/** The capsule waits on our hold until the decision is carried out, or the next session runs. */
async function ended(world: World, base: string, policy: ExitPolicy, outcome: AgentEnded): Promise<AfterEnd> {
  const { code, signal, oom, hold } = outcome;
  try {
    const decided = await runExitFlow(world, base, { policy, seen: { code, signal, oom } });
    if (decided === 'return') {
      const { sessionId } = await restoreUnderLock(world, base, RETURN);
      return { action: 'again', sessionId };
    }
    if (decided.outcome !== 'running') {
      // Without us the capsule leaves; the prompt comes back when what `status` says is true.
      await hold.release();
      await untilStopped(world, base);
    }
    return { action: 'done', result: endResult(decided) };
  } finally {
    await hold.release();
  }
}

async function lost(
  world: World,
  manifest: Manifest,
  policy: ExitPolicy,
  reason: string,
): Promise<Extract<FlowResult, { kind: 'end' }>> {
  const base = manifest.container_base;
  await untilStopped(world, base);
  // Nobody saw the end, so nothing is cleaned up here: a policy that would is left to the next look.
  const recorded = await runExitFlow(world, base, { policy, seen: null, recordOnly: true });
  if (recorded === 'return') throw new Error('nothing was asked');
  const evidence = [`the connection was lost: ${reason}`, ...recorded.evidence];
  const withoutChoice =
    recorded.outcome === 'cleaned' ? false : recorded.outcome === 'running' || recorded.kept_without_choice;
  return endResult({ ...recorded, evidence, kept_without_choice: withoutChoice });
}

async function attach(world: World, manifest: Manifest, sessionId: string | null): Promise<AttachOutcome> {
  const base = manifest.container_base;
  const config = await readAgentConfig(world.paths, base);
  const endpoint = backendFor(world, manifest).capsule({
    instance_id: manifest.instance_id,
    container_base: base,
    manifest,
  });
  const loaded = await world.config();
  return world.attach.run({
    open: (signal) => endpoint.open(signal),
    session_id: sessionId,
    instance_id: manifest.instance_id,
    capsule_key: config.capsule_key,
    prefix: loaded.config.attach.prefix,
  });
}

async function manifestOf(world: World, base: string): Promise<Manifest> {
  const manifest = await world.store.read(base);
  if (manifest !== null) return manifest;
  throw new JackinError({
    code: 'INSTANCE_GONE',
    message: `${base} was removed by another jackin meanwhile`,
    hint: 'See what is there with: jackin status',
  });
}
