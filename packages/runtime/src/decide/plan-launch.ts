import type { Manifest, Recipe } from '@jackin/instance';
import type { MaterialisePlan } from '@jackin/isolation';
import type { EngineFact } from '../backend.ts';
import type { Plan, SessionRequest } from '../plan.ts';
import { instancePlan, type PlanInput, type StepDraft } from './plan-parts.ts';

export interface LaunchInput extends PlanInput {
  instanceId: string;
  containerBase: string;
  names: { container: string; sidecar: string; network: string; certsVolume: string };
  workspaceName: string | null;
  workspaceLabel: string;
  /** Where the project is, as the agent sees it. */
  workdir: string;
  /** `sha256:…` of the canonical host path. */
  hostWorkdirFingerprint: string;
  role: { key: string; displayName: string; git?: string | null; ref?: string | null };
  supportedAgents: readonly string[];
  recipe: Recipe;
  session: SessionRequest;
  /** Where it is going to be made; null or absent: not known yet. A container of it is looked for nowhere else. */
  engine?: EngineFact | null;
  /** Its worktrees and clones. */
  trees?: readonly MaterialisePlan[];
}

/**
 * A new instance from nothing to a running agent (docs/status-and-causes.md#launch). The manifest with its recipe is
 * written before anything is made in an engine, so a kill at any step leaves a record that says `active`.
 */
export function planLaunch(input: LaunchInput): Plan {
  const { recipe, session, containerBase: base } = input;
  const manifest = launchManifest(input);
  return instancePlan({
    plan_id: input.planId,
    kind: 'launch',
    summary: `Start a new ${recipe.backend} instance ${base} with ${session.agent}`,
    facts: { instance_id: input.instanceId, container_base: base, manifest },
    steps: [
      {
        op: 'create_instance',
        manifest,
        creates: [`instance ${base} with its home and settings`],
        requires: [{ fact: 'name_free' }],
      },
      ...treeSteps(input.trees ?? []),
      { op: 'prepare_socket_dir' },
      { op: 'write_agent_config', session },
      { op: 'create_resources', recipe },
      startStep(recipe, base),
      ...checkSteps(recipe),
      { op: 'start_session', session, recipe, creates: [`agent session ${session.name} (${session.agent})`] },
      { op: 'record_status', status: 'running' },
    ],
  });
}

function treeSteps(trees: readonly MaterialisePlan[]): StepDraft[] {
  if (trees.length === 0) return [];
  return [{ op: 'materialise_trees', trees: [...trees], creates: trees.map(treeWords) }];
}

function treeWords({ kind, dst, src, base_commit: base, scratch }: MaterialisePlan): string {
  const at = `${src} at ${base.slice(0, 12)}`;
  return scratch === null
    ? `${kind} ${dst} of ${at}`
    : `${kind} ${dst} of ${at}, on the branch ${scratch.name}`;
}

/** Inside a container git sees other paths: whether it works there is found out before the agent does. */
export function checkSteps({ backend, mounts }: Recipe): StepDraft[] {
  const directories = mounts.filter(({ isolation }) => isolation !== 'shared').map(({ dst }) => dst);
  return backend === 'standalone' || directories.length === 0 ? [] : [{ op: 'check_trees', directories }];
}

function startStep(recipe: Recipe, base: string): StepDraft {
  const what = recipe.backend === 'standalone' ? 'capsule process' : 'container';
  return { op: 'start_container', recipe, creates: [`${what} of ${base}`] };
}

function launchManifest(input: LaunchInput): Manifest {
  const { role, recipe, names, now } = input;
  const sidecar = (recipe.run.sidecar ?? null) !== null;
  return {
    version: 2,
    instance_id: input.instanceId,
    container_base: input.containerBase,
    created_at: now,
    updated_at: now,
    workspace_name: input.workspaceName,
    workspace_label: input.workspaceLabel,
    workdir: input.workdir,
    host_workdir_fingerprint: input.hostWorkdirFingerprint,
    role_key: role.key,
    role_display_name: role.displayName,
    agent_runtime: recipe.agent.id,
    role_source_git: role.git ?? null,
    role_source_ref: role.ref ?? null,
    image_tag: recipe.image_tag,
    status: 'active',
    last_attach_outcome: null,
    docker: {
      role_container: names.container,
      dind_container: sidecar ? names.sidecar : null,
      network: names.network,
      certs_volume: sidecar ? names.certsVolume : null,
    },
    sessions: [],
    role_git_sha: recipe.role.commit ?? null,
    base_image_ref: recipe.base?.ref ?? null,
    base_image_digest: recipe.base?.digest ?? null,
    supported_agents: [...input.supportedAgents],
    recipe,
    ...madeOn(input),
  };
}

function madeOn({ recipe, engine }: LaunchInput): Pick<Manifest, 'engine'> {
  if (recipe.backend !== 'docker' || engine?.state !== 'reachable') return {};
  const { endpoint, id, run } = engine;
  return { engine: { endpoint, id, run } };
}
