import { describeInstance } from '../decide/describe.ts';
import type { InstanceFacts } from '../facts.ts';
import type { InstanceDocument, StatusDocument } from '../jackin.ts';
import type { Observation } from '../observe/observe.ts';
import { inParallel } from '../parallel.ts';
import type { FlowResult, StatusRequest } from './api.ts';
import { type Conversation, conversationOf } from './conversation.ts';
import { knownAgents } from './known-agents.ts';
import { lastScreen } from './last-screen.ts';
import { type Notice, reconcile } from './reconcile.ts';
import { rowOnly } from './row-only.ts';
import { sizesOf } from './sizes.ts';
import type { World } from './world.ts';

const PARALLEL_LOOKS = 8;
/** Git uses more than one processor for itself. */
const PARALLEL_TREES = 2;
const DAY_MS = 24 * 60 * 60 * 1000;
const WARN_AFTER_DAYS = 14;

/** `jackin status [ID]`: what is true, with what could not be read beside it. Exit code 1 if a record is corrupt. */
export async function status(world: World, request: StatusRequest): Promise<FlowResult> {
  const seen = await reconcile(world, { everyBackend: true });
  const only =
    request.instance === null ? null : (await world.store.resolve(request.instance)).container_base;
  const document = await statusDocument(world, seen, { only, detail: request.detail, sizes: request.sizes });
  return { kind: 'status', document, exitCode: document.corrupt.length === 0 ? 0 : 1 };
}

export interface StatusOptions {
  /** Only this instance; corrupt records are listed all the same. */
  only: string | null;
  detail: boolean;
  sizes: boolean;
}

/** The status document of one look. */
export async function statusDocument(
  world: World,
  seen: Observation & { notices?: Notice[] },
  options: StatusOptions,
): Promise<StatusDocument> {
  const { only } = options;
  const wanted = await assessed(
    world,
    seen.facts.filter((facts) => only === null || facts.container_base === only),
    options,
  );
  const { agents, warnAfterDays, problems } = await configured(world);
  const instances = await inParallel(wanted, PARALLEL_LOOKS, (facts) => row(world, facts, agents, options));
  const interrupted = seen.loaded.rowsWithoutManifest
    .filter((left) => only === null || left.container_base === only)
    .map(rowOnly)
    .map(({ code, message, hint }) => ({ code, message: `${message}. ${hint}` }));
  const own = [...problems, ...interrupted, ...oldOnes(instances, warnAfterDays, world.clock.now())];
  for (const notice of own) world.events({ type: 'notice', level: 'warn', ...notice });
  return {
    engine: seen.engines.map((engine) =>
      engine.state === 'reachable'
        ? { endpoint: engine.endpoint, state: engine.state, run: engine.run }
        : { endpoint: engine.endpoint, state: engine.state, run: null, reason: engine.reason },
    ),
    instances,
    corrupt: seen.loaded.corrupt.map(({ path, reason }) => ({ path, reason })),
    notices: [...seen.loaded.notices, ...(seen.notices ?? []), ...own],
  };
}

/** With `--detail` every tree is looked into, which takes git a moment each; the list alone stays quick. */
async function assessed(
  world: World,
  wanted: InstanceFacts[],
  { detail }: StatusOptions,
): Promise<InstanceFacts[]> {
  if (!detail) return wanted;
  return inParallel(wanted, PARALLEL_TREES, async (facts) => {
    if (facts.isolated.length === 0) return facts;
    const isolated = await world.lookInto(facts.manifest);
    return { ...facts, isolated };
  });
}

async function row(
  world: World,
  facts: InstanceFacts,
  conversation: (facts: InstanceFacts) => Conversation,
  options: StatusOptions,
): Promise<InstanceDocument> {
  return {
    ...describeInstance(facts, world.now()),
    conversation: conversation(facts),
    ...(options.detail ? { last_screen: await lastScreen(world, facts) } : {}),
    ...(options.sizes ? { sizes: await sizesOf(world.paths, facts.container_base) } : {}),
  };
}

/** A configuration that cannot be read must not hide the instances: it is one more notice. */
async function configured(world: World) {
  try {
    const [agents, loaded] = [await knownAgents(world), await world.config()];
    return {
      agents: (facts: InstanceFacts) => conversationOf(facts.manifest, agents),
      warnAfterDays: loaded.config.retention.warn_after_days,
      problems: loaded.problems.map(({ file, reason }) => ({
        code: 'CONFIG_PROBLEM',
        message: `${file}: ${reason}`,
      })),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      agents: (): Conversation => 'none',
      warnAfterDays: WARN_AFTER_DAYS,
      problems: [{ code: 'CONFIG_PROBLEM', message }],
    };
  }
}

function oldOnes(
  instances: InstanceDocument[],
  days: number,
  now: Date,
): { code: string; message: string }[] {
  const old = instances.filter(
    ({ container, since }) => container !== 'running' && now.getTime() - Date.parse(since) > days * DAY_MS,
  );
  if (old.length === 0) return [];
  const names = old.map(({ container_base }) => container_base).join(', ');
  return [{ code: 'KEPT_LONG', message: `Kept for more than ${days} days: ${names}` }];
}
