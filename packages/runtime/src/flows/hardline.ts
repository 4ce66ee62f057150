import { randomUUID } from 'node:crypto';
import { agentArgv, findAgent } from '@jackin/agents';
import { resolveTarget } from '@jackin/config';
import { JackinError } from '@jackin/core';
import { workdirFingerprint } from '@jackin/instance';
import { candidateRow } from '../decide/candidates.ts';
import { agentInContainer } from '../decide/classify-exit.ts';
import { obstacle } from '../decide/obstacle.ts';
import type { InstanceFacts } from '../facts.ts';
import type { FlowResult, HardlineRequest } from './api.ts';
import { attachSession } from './attached.ts';
import { sessionRequest } from './conversation.ts';
import { decisionNeeded, refuseInside, requireTerminal } from './guards.ts';
import { withInstanceLock } from './locking.ts';
import { planSession } from './plan-session.ts';
import { prepareSession } from './prepare-session.ts';
import { reconcile } from './reconcile.ts';
import { resumeInstance } from './resume.ts';
import { factsOf, namedInstance } from './select.ts';
import { statusDocument } from './status.ts';
import type { World } from './world.ts';

/** `jackin hardline [ID]`: attaches to an instance that runs. One that does not is offered to `resume`. */
export async function hardline(world: World, request: HardlineRequest): Promise<FlowResult> {
  if (request.mode !== 'inspect') {
    refuseInside(world, 'hardline');
    requireTerminal(world, 'hardline', '--inspect');
  }
  const seen = await reconcile(world);
  const base =
    request.instance === null
      ? await pick(world, seen.facts, request)
      : (await namedInstance(world, request.instance)).container_base;
  if (base === null) return { kind: 'cancelled', document: { cancelled: true }, exitCode: 0 };
  if (request.mode === 'inspect') return inspect(world, base);
  const facts = await factsOf(world, base);
  if (facts.observation.container.state !== 'running') return offerResume(world, facts, request);
  if (request.mode === 'attach') return attachToAgent(world, facts, request);
  const sessionId = await startSession(world, base, request.mode);
  return attachSession(world, base, { sessionId, policy: request.policy });
}

async function attachToAgent(
  world: World,
  facts: InstanceFacts,
  request: HardlineRequest,
): Promise<FlowResult> {
  const base = facts.container_base;
  if (agentInContainer(facts) === 'alive') {
    return attachSession(world, base, { sessionId: null, policy: request.policy });
  }
  // The container runs without an agent: the same session is started again in it.
  return resumeInstance(world, base, { ...request, detach: false, acceptLoss: false, allowDrift: false });
}

async function startSession(world: World, base: string, mode: 'new' | 'shell'): Promise<string | null> {
  return withInstanceLock(world, base, { purpose: `start a session (${mode})` }, async (lock) => {
    const facts = await factsOf(world, base);
    const hindrance = obstacle(facts, world.now());
    if (hindrance !== null) throw hindrance;
    const { recipe } = facts.manifest;
    if (recipe === undefined) throw recipeMissing(facts);
    const session =
      mode === 'new'
        ? sessionRequest(world, { ...recipe.agent, agent: recipe.agent.id, cwd: recipe.workdir })
        : sessionRequest(world, { agent: 'shell', argv: shellArgv(world), cwd: recipe.workdir });
    const plan = planSession({ planId: randomUUID(), now: world.now(), facts, session, recipe });
    await prepareSession(world, plan);
    return (await world.run(plan, lock)).session?.session_id ?? session.session_id;
  });
}

function shellArgv(world: World): string[] {
  const shell = world.env.SHELL;
  return agentArgv(findAgent('shell'), { extra: [], ...(shell === undefined ? {} : { shell }) });
}

/** The one of this directory; several are a choice; none is an error that names what could be resumed. */
async function pick(world: World, all: InstanceFacts[], request: HardlineRequest): Promise<string | null> {
  const here = await ofThisDirectory(world, all);
  const running = here.filter((facts) => facts.observation.container.state === 'running');
  const [only] = running;
  if (only === undefined) throw nothingRuns(world, here);
  if (running.length === 1) return only.container_base;
  const rows = running.map((facts) => candidateRow(facts, world.now()));
  if (!world.prompts.available || request.mode === 'inspect') {
    const commands = rows.map((row) => `jackin hardline ${row.instance_id}`);
    throw decisionNeeded(
      `${rows.length} instances run for ${world.cwd}: ${rows.map((row) => row.container_base).join(', ')}`,
      `Name one: ${commands.join(' · ')}`,
      { candidates: rows, commands },
    );
  }
  const id = await world.prompts.chooseInstance({ title: 'which session', rows });
  return rows.find((row) => row.instance_id === id)?.container_base ?? null;
}

async function ofThisDirectory(world: World, all: InstanceFacts[]): Promise<InstanceFacts[]> {
  const target = await resolveTarget({ target: null, cwd: world.cwd, loaded: await world.config() });
  const fingerprint = workdirFingerprint(target.hostDir);
  return all.filter(({ manifest }) =>
    target.workspaceName === null
      ? manifest.workspace_name === null && manifest.host_workdir_fingerprint === fingerprint
      : manifest.workspace_name === target.workspaceName,
  );
}

async function offerResume(
  world: World,
  facts: InstanceFacts,
  request: HardlineRequest,
): Promise<FlowResult> {
  const row = candidateRow(facts, world.now());
  if (world.prompts.available && request.mode === 'attach') {
    const agreed = await world.prompts.confirm({
      title: `${row.container_base} does not run (${row.what}). Resume it?`,
      removes: [],
      warnings: [],
    });
    if (!agreed) return { kind: 'cancelled', document: { cancelled: true }, exitCode: 0 };
    const { policy } = request;
    return resumeInstance(world, row.container_base, {
      policy,
      detach: false,
      acceptLoss: false,
      allowDrift: false,
    });
  }
  throw new JackinError({
    code: 'NOT_RUNNING',
    message: `${row.container_base} does not run (${row.what}), so there is nothing to attach to`,
    hint: `Bring it back with: jackin resume ${row.instance_id}`,
  });
}

async function inspect(world: World, base: string): Promise<FlowResult> {
  const seen = await world.look();
  const document = await statusDocument(world, seen, { only: base, detail: true, sizes: false });
  return { kind: 'status', document, exitCode: 0 };
}

function nothingRuns(world: World, here: InstanceFacts[]): JackinError {
  const rows = here.map((facts) => candidateRow(facts, world.now()));
  const resumable = rows.map((row) => `jackin resume ${row.instance_id}`);
  return new JackinError({
    code: 'NOT_RUNNING',
    message: `No instance runs for ${world.cwd}`,
    hint:
      resumable.length === 0
        ? 'Start one with: jackin load'
        : `Bring one back with: ${resumable.join(' · ')}`,
    details: { candidates: rows },
  });
}

function recipeMissing({ container_base: base }: InstanceFacts): JackinError {
  return new JackinError({
    code: 'RECIPE_MISSING',
    message: `${base} was made without a launch recipe, so no session can be started in it`,
    hint: 'Attach to the one that is there with: jackin hardline',
  });
}
