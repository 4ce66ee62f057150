import {
  addDockerMount,
  authEdits,
  type Edits,
  editConfig,
  exitPolicyEdit,
  type ResolvedExitPolicy,
  removeDockerMount,
  resolveExitPolicy,
  settingPath,
  settingsOf,
  settingValue,
} from '@jackin/config';
import { JackinError, toJackinError } from '@jackin/core';
import type { World } from '../world.ts';
import type { ConfigVerbs } from './api.ts';
import type { ConfigurationResult, ExitPolicyDocument } from './documents.ts';
import { editResult } from './edit-result.ts';
import { trustEdits } from './trust.ts';
import { typedMount, typedPath } from './typed-change.ts';

type Request<Verb extends keyof ConfigVerbs> = Parameters<ConfigVerbs[Verb]>[0];

/** `jackin config show`: every value that counts, and who said so. */
export async function show(world: World): Promise<ConfigurationResult> {
  const { config, sources, problems } = await world.config();
  const file = sources?.config?.file ?? null;
  const document = {
    subject: 'config.toml',
    file,
    settings: settingsOf(config, sources?.config),
    exit_policy: await globalExitPolicy(world),
    instances: null,
    problems: problems.map(({ file: of, reason, line = null }) => ({ file: of, reason, line })),
  };
  return { kind: 'settings', document, exitCode: 0 };
}

/** `jackin config set KEY VALUE`. What looks like a number where a text belongs is that text. */
export async function set(
  world: World,
  { key, value, dryRun }: Request<'set'>,
): Promise<ConfigurationResult> {
  const path = settingPath(key);
  if (path.includes('env')) throw variableElsewhere(key);
  const read = settingValue(value);
  try {
    return await change(world, [{ path, set: read }], dryRun);
  } catch (thrown) {
    const refusal = toJackinError(thrown);
    if (refusal.code !== 'CONFIG_INVALID' || typeof read === 'string') throw refusal;
    return change(world, [{ path, set: value }], dryRun).catch((asText: unknown) => {
      throw refusal.message.includes('expected a text') ? asText : refusal;
    });
  }
}

/** `jackin config unset KEY` */
export function unset(world: World, { key, dryRun }: Request<'unset'>): Promise<ConfigurationResult> {
  return change(world, [{ path: settingPath(key), remove: true }], dryRun);
}

export function addMount(
  world: World,
  { name, mount, dryRun }: Request<'addMount'>,
): Promise<ConfigurationResult> {
  return change(world, addDockerMount(name, typedMount(world, mount)), dryRun);
}

export function removeMount(
  world: World,
  { name, dryRun }: Request<'removeMount'>,
): Promise<ConfigurationResult> {
  return change(world, removeDockerMount(name), dryRun);
}

/** `jackin config mount list` */
export async function mounts(world: World): Promise<ConfigurationResult> {
  const { config } = await world.config();
  const rows = Object.entries(config.docker.mounts ?? {}).map(([name, { src, dst, readonly }]) => ({
    name,
    src,
    dst,
    readonly,
  }));
  return { kind: 'mounts', document: { mounts: rows }, exitCode: 0 };
}

/** `jackin config trust KEY` */
export function trust(
  world: World,
  { role, trusted, dryRun }: Request<'trust'>,
): Promise<ConfigurationResult> {
  return change(world, trustEdits(role, trusted), dryRun);
}

/** `jackin config exit-policy`: tells it, sets it, or takes it out. */
export async function exitPolicy(
  world: World,
  { value, dryRun }: Request<'exitPolicy'>,
): Promise<ConfigurationResult> {
  if (value !== undefined) return change(world, [exitPolicyEdit(value)], dryRun);
  return { kind: 'exit_policy', document: await globalExitPolicy(world), exitCode: 0 };
}

/** `jackin config auth AGENT MODE` */
export function auth(world: World, request: Request<'auth'>): Promise<ConfigurationResult> {
  const { agent, mode, syncSourceDir: dir, dryRun } = request;
  const syncSourceDir = typeof dir === 'string' ? typedPath(world, dir) : dir;
  const wanted = {
    ...(mode === undefined ? {} : { mode }),
    ...(syncSourceDir === undefined ? {} : { syncSourceDir }),
  };
  return change(world, () => authEdits({ [agent]: wanted }), dryRun);
}

/** Of a configuration alone: neither a flag nor a session of a workspace that is gone has a part in it. */
export function configuredExitPolicy({ value, source }: ResolvedExitPolicy): ExitPolicyDocument {
  return { value, source: source === 'flag' || source === 'workspace_missing' ? 'default' : source };
}

async function globalExitPolicy(world: World): Promise<ExitPolicyDocument> {
  const { config } = await world.config();
  return configuredExitPolicy(resolveExitPolicy({ flag: null, workspace: null, global: config }));
}

async function change(world: World, edits: Edits, dryRun: boolean): Promise<ConfigurationResult> {
  const { events, paths } = world;
  return editResult('changed', 'config.toml', await editConfig(paths, edits, { events, dryRun }), dryRun);
}

function variableElsewhere(key: string): JackinError {
  return new JackinError({
    code: 'USAGE',
    message: `${key} is a variable`,
    hint: 'Set it with: jackin config env set NAME=VALUE [--role KEY]',
    exitCode: 2,
  });
}
