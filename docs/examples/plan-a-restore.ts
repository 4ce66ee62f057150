/**
 * Lists the instances of a state directory and prints, for each, the plan that would bring it back. Nothing is changed.
 *
 *   node docs/examples/plan-a-restore.ts [ID]      (after npm run build; JACKIN_HOME_DIR names another directory)
 */
import { newSessionId, resolvePaths, systemClock } from '@jackin/core';
import { createInstanceStore } from '@jackin/instance';
import {
  createCapsuleAccess,
  createStandaloneBackend,
  createTrees,
  describeInstance,
  type InstanceFacts,
  observe,
  planRestore,
  type RestorePlan,
} from '@jackin/runtime';

const paths = resolvePaths(process.env);
const events = () => {};
const store = createInstanceStore({ paths, events, clock: systemClock });
const wanted = process.argv[2];

// Observe: everything at once, through ports. A backend that only looks needs no program to start.
const standalone = createStandaloneBackend({
  paths,
  events,
  clock: systemClock,
  env: process.env,
  capsuleProgram: { file: process.execPath, args: [] },
});
const { facts, loaded } = await observe(
  {
    store,
    paths,
    backends: new Map([[standalone.kind, standalone]]),
    capsule: createCapsuleAccess({ paths, clientName: 'plan-a-restore' }),
    trees: createTrees({ env: process.env }),
  },
  { trees: 'resume' },
);

for (const { path, reason } of loaded.corrupt) console.log(`corrupt  ${path}: ${reason}`);
for (const instance of facts.filter(({ instance_id }) => wanted === undefined || instance_id === wanted)) {
  const { status, cause } = describeInstance(instance, systemClock.now().toISOString());
  console.log(`${instance.container_base}  ${status}${cause === null ? '' : `, ${cause}`}`);
  print(decide(instance));
}

// Decide: a pure function from facts to a plan.
function decide(instance: InstanceFacts): RestorePlan {
  const { recipe, agent_runtime: agent, workdir } = instance.manifest;
  return planRestore({
    planId: 'example',
    now: systemClock.now().toISOString(),
    facts: instance,
    session: {
      session_id: newSessionId(),
      name: agent,
      agent,
      argv: recipe?.agent.argv ?? [agent],
      cwd: recipe?.workdir ?? workdir,
      cols: 80,
      rows: 24,
    },
  });
}

// A plan is data: this is what `jackin resume ID --dry-run --json` prints too.
function print(restore: RestorePlan): void {
  if (restore.outcome === 'blocked') {
    console.log(`  cannot be resumed now: ${restore.error.message} (${restore.error.code})`);
    return;
  }
  const { plan } = restore;
  console.log(`  ${plan.summary}`);
  console.log(`  tier ${plan.tier}, returns: ${plan.returns.join(', ') || 'nothing'}`);
  console.log(`  does not return: ${plan.did_not_return.join(', ') || 'nothing'}`);
  for (const [at, step] of plan.steps.entries()) console.log(`  ${at + 1}. ${step.op}`);
}
