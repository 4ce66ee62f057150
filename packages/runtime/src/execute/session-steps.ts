import { randomBytes } from 'node:crypto';
import { agentRegistry } from '@jackin/agents';
import type { SessionInfo, SessionPlan } from '@jackin/capsule/protocol';
import { JackinError, toJackinError } from '@jackin/core';
import type { Manifest, Recipe } from '@jackin/instance';
import { capsuleOwner } from '../decide/container-user.ts';
import { writeAgentConfig } from '../observe/agent-config-file.ts';
import { bounded } from '../observe/bounded.ts';
import type { CapsuleAccess } from '../observe/capsule-access.ts';
import type { SessionRequest } from '../plan.ts';
import { recordUnrecorded } from './container-steps.ts';
import { outside } from './context.ts';
import { mountedTrees } from './mounted-trees.ts';
import type { Handler, StepContext } from './ports.ts';
import { programHint } from './program-hint.ts';
import { findProgram, sessionEnvironment } from './session-env.ts';

const CAPSULE_KEY_BYTES = 32;
const SESSION_START_MS = 60_000;

/**
 * `agent.toml` with a fresh capsule key. A running capsule keeps the key it was started with, so its file is left
 * alone; whether one runs must be known.
 */
export const writeAgentConfigStep: Handler<'write_agent_config'> = async (step, context) => {
  const { ports, base, instanceId } = context;
  const container = (await context.facts())?.observation.container;
  if (container?.state === 'running') return { state: 'skipped', detail: 'the capsule is running with it' };
  if (container?.state === 'unreachable') {
    throw new JackinError({
      code: 'ENGINE_UNREACHABLE',
      message: `Whether the capsule of ${base} runs cannot be seen: ${container.reason}`,
      hint: 'Run `jackin doctor`, then the same command again.',
    });
  }
  const { manifest } = await context.ref();
  const config = {
    instance_id: instanceId,
    role: manifest.role_key,
    workdir: manifest.recipe?.workdir ?? manifest.workdir,
    agents: manifest.supported_agents.length > 0 ? manifest.supported_agents : [manifest.agent_runtime],
    capsule_key: randomBytes(CAPSULE_KEY_BYTES).toString('hex'),
    ...(step.session ? { session: { agent: step.session.agent, argv: step.session.argv } } : {}),
  };
  await writeAgentConfig(ports.paths, base, config, capsuleOwner(manifest));
  return { state: 'done' };
};

/**
 * Starts the session and waits until the agent runs. Secrets are resolved now and travel over the connection only.
 * Throws ENV_UNRESOLVED, AGENT_START_FAILED with the agent's install hint, or what else the capsule answers.
 */
export const startSession: Handler<'start_session'> = async (step, context) => {
  const { session } = step;
  await recordUnrecorded(step.recipe, context);
  return withCapsule(context, async (connection) => {
    const sessions = await connection.list();
    const known = sessions.find((one) => one.session_id === session.session_id);
    const note = (info: SessionInfo) =>
      context.ports.store.update(context.base, (manifest) => withSession(manifest, session, info, sessions));
    if (known) {
      await note(known);
      return { state: 'skipped', detail: 'the session was started already', session: known };
    }
    const plan = await sessionPlan(context, session, step.recipe);
    const info = await connection.startSession(plan).catch((thrown: unknown) => {
      throw startError(context, session, toJackinError(thrown));
    });
    await note(info);
    return { state: 'done', session: info };
  });
};

/** Nothing to start: the living session is looked up, so that the receipt can name it. */
export const reconnect: Handler<'reconnect'> = async (_step, context) =>
  withCapsule(context, async (connection) => {
    const sessions = await connection.list();
    const newest = sessions.filter((one) => one.alive).sort((a, b) => byStart(b, a))[0];
    return newest
      ? { state: 'done', session: newest }
      : { state: 'done', detail: 'no session is alive in it' };
  });

type Connection = Awaited<ReturnType<CapsuleAccess['connect']>>;

async function withCapsule<T>(context: StepContext, use: (connection: Connection) => Promise<T>): Promise<T> {
  const ref = await context.ref();
  const connection = await outside(context, `The capsule of ${context.base}`, 10_000, (signal) =>
    context.ports.capsule.connect(ref, context.backend.capsule(ref), signal),
  );
  try {
    return await bounded(`The capsule of ${context.base}`, SESSION_START_MS, context.ports.signal, () =>
      use(connection),
    );
  } finally {
    connection.close();
  }
}

async function sessionPlan(
  context: StepContext,
  session: SessionRequest,
  recipe: Recipe,
): Promise<SessionPlan> {
  const { ports, base, instanceId, plan } = context;
  const env = sessionEnvironment({
    backend: plan.backend,
    instanceId,
    home: ports.paths.instance(base).home,
    hostEnv: ports.hostEnv,
    resolved: await ports.resolveEnv(recipe.env.map(({ name, source }) => ({ name, source }))),
    trees: (await mountedTrees(context, recipe)).env,
  });
  if (plan.backend === 'standalone' && !(await findProgram(session.argv[0] ?? '', session.cwd, env.PATH))) {
    throw agentStartFailed(context, session, `${session.argv[0]} was not found on this host`);
  }
  // A container is limited by its engine, and what is in it can make no groups of its own.
  const limits = plan.backend === 'standalone' ? definedOnly(recipe.run.limits) : {};
  return {
    session_id: session.session_id,
    name: session.name,
    agent: session.agent,
    argv: session.argv,
    cwd: session.cwd,
    env,
    cols: session.cols,
    rows: session.rows,
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  };
}

function definedOnly(limits: Recipe['run']['limits']): NonNullable<SessionPlan['limits']> {
  const { memory_bytes, cpus, pids } = limits;
  return {
    ...(memory_bytes ? { memory_bytes } : {}),
    ...(cpus ? { cpus } : {}),
    ...(pids ? { pids } : {}),
  };
}

/** A missing program is about the agent; everything else keeps the capsule's own code, and gets a way on. */
function startError(context: StepContext, session: SessionRequest, error: JackinError): JackinError {
  if (error.code === 'COMMAND_NOT_FOUND') return agentStartFailed(context, session, error.message, error);
  if (error.hint !== undefined) return error;
  return new JackinError({
    code: error.code,
    message: `The agent ${session.agent} could not be started: ${error.message}`,
    hint: `Run \`jackin status ${context.instanceId} --detail\`, then the same command again.`,
    details: error.details,
    cause: error,
  });
}

function agentStartFailed(
  context: StepContext,
  session: SessionRequest,
  reason: string,
  cause?: unknown,
): JackinError {
  const agent = (context.ports.agents ?? agentRegistry).find(({ id }) => id === session.agent);

  return new JackinError({
    code: 'AGENT_START_FAILED',
    message: `The agent ${session.agent} could not be started: ${reason}`,
    hint: programHint(agent, session.argv[0] ?? ''),
    details: { agent: session.agent, program: session.argv[0] ?? null },
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * The manifest's list of sessions, newest last; the same session is not listed twice. What an earlier capsule ran, and
 * this one knows nothing about or saw end, does not run any more.
 */
function withSession(
  manifest: Manifest,
  session: SessionRequest,
  info: SessionInfo,
  known: readonly SessionInfo[],
): Manifest {
  const alive = new Set(known.filter((one) => one.alive).map((one) => one.session_id));
  const others = manifest.sessions
    .filter((one) => one.session_id !== session.session_id)
    .map((one) =>
      one.status === 'running' && !alive.has(one.session_id) ? { ...one, status: 'ended' } : one,
    );
  return {
    ...manifest,
    sessions: [
      ...others,
      {
        session_id: session.session_id,
        name: session.name,
        agent_runtime: session.agent,
        tmux_name: '',
        created_at: info.started_at,
        status: 'running',
      },
    ],
  };
}

function byStart(a: SessionInfo, b: SessionInfo): number {
  return a.started_at < b.started_at ? -1 : a.started_at > b.started_at ? 1 : 0;
}
