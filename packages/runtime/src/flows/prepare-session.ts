import { findAgent } from '@jackin/agents';
import { JackinError } from '@jackin/core';
import { programHint } from '../execute/program-hint.ts';
import { findProgram, sessionEnvironment } from '../execute/session-env.ts';
import type { Plan, Step } from '../plan.ts';
import { knownAgents } from './known-agents.ts';
import type { World } from './world.ts';

/**
 * What would stop the agent is found out before anything is made: its variables are resolved (once for this command),
 * and a standalone agent's program must exist on this machine.
 * @throws JackinError ENV_UNRESOLVED naming the variable, AGENT_START_FAILED with the agent's install hint
 */
export async function prepareSession(world: World, plan: Plan): Promise<void> {
  const start = plan.steps.find(
    (step): step is Extract<Step, { op: 'start_session' }> => step.op === 'start_session',
  );
  if (start === undefined) return;
  const resolved = await world.resolveEnv(start.recipe.env.map(({ name, source }) => ({ name, source })));
  if (plan.backend !== 'standalone') return;
  const { argv, cwd, agent } = start.session;
  const env = sessionEnvironment({
    backend: plan.backend,
    instanceId: plan.instance_id ?? '',
    home: world.paths.instance(plan.container_base ?? 'jk').home,
    hostEnv: world.env,
    resolved,
  });
  const program = argv[0] ?? '';
  if ((await findProgram(program, cwd, env.PATH)) !== null) return;
  throw new JackinError({
    code: 'AGENT_START_FAILED',
    message: `The agent ${agent} cannot be started: ${JSON.stringify(program)} was not found on this machine`,
    hint: programHint(findAgent(agent, await knownAgents(world)), program),
    details: { agent, program },
  });
}
