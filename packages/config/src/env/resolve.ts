import { JackinError, type RunResult, redact, registerSecret } from '@jackin/core';
import type { EnvReference } from './references.ts';

/** Long enough for an operator to approve the read in 1Password's own window. */
const OP_TIMEOUT_MS = 60_000;
const OP_MAX_BYTES = 128 * 1024;

/** Host variables that say nothing secret; masking them would make every path in an error unreadable. */
const PUBLIC_VARIABLES =
  /^(HOME|USER|LOGNAME|PWD|PATH|SHELL|TERM|COLORTERM|LANG|LC_\w+|TZ|EDITOR|VISUAL|HOSTNAME)$/;

export interface EnvResolver {
  hostEnv: Readonly<Record<string, string | undefined>>;
  run(
    file: string,
    args: string[],
    options: {
      timeoutMs: number;
      env?: Record<string, string>;
      maxOutputBytes?: number;
      signal?: AbortSignal;
    },
  ): Promise<Pick<RunResult, 'stdout' | 'stderr' | 'exitCode' | 'timedOut' | 'notFound' | 'truncated'>>;
  signal?: AbortSignal;
}

/**
 * The values behind references, read now. Each secret is registered for redaction before anybody can print it, and
 * is never written by us.
 * @throws JackinError `ENV_UNRESOLVED` naming every variable that cannot be resolved, with its reference and why
 */
export async function resolveEnv(
  references: readonly EnvReference[],
  resolver: EnvResolver,
): Promise<Record<string, string>> {
  const values: [string, string][] = [];
  const failures: { name: string; source: string; reason: string }[] = [];
  // One after the other: 1Password asks for approval, and two windows at once confuse.
  for (const { name, source } of references) {
    const result = await resolveOne(source, resolver);
    if ('reason' in result) failures.push({ name, source: publicSource(source), reason: result.reason });
    else values.push([name, result.value]);
  }
  if (failures.length > 0) throw unresolved(failures);
  return Object.fromEntries(values);
}

type Outcome = { value: string } | { reason: string };

async function resolveOne(source: string, resolver: EnvResolver): Promise<Outcome> {
  const outcome = await lookUp(source, resolver);
  if ('value' in outcome && outcome.value.includes('\0')) return { reason: 'the value has a NUL byte in it' };
  return outcome;
}

async function lookUp(source: string, resolver: EnvResolver): Promise<Outcome> {
  if (source.startsWith('literal:')) return { value: source.slice('literal:'.length) };
  if (source.startsWith('op://')) return readOnePassword(source, resolver);
  if (!source.startsWith('$')) return { reason: 'this kind of reference is not known' };
  const name = source.slice(1);
  const value = resolver.hostEnv[name];
  if (value === undefined) return { reason: `${name} is not set on this machine` };
  if (!PUBLIC_VARIABLES.test(name)) registerSecret(value);
  return { value };
}

async function readOnePassword(source: string, resolver: EnvResolver): Promise<Outcome> {
  const { reference, account } = splitAccount(source);
  const args = ['read', ...(account === null ? [] : ['--account', account]), reference];
  const result = await resolver.run('op', args, {
    timeoutMs: OP_TIMEOUT_MS,
    maxOutputBytes: OP_MAX_BYTES,
    env: definedOnly(resolver.hostEnv),
    ...(resolver.signal === undefined ? {} : { signal: resolver.signal }),
  });
  const text = result.stdout.toString('utf8').replace(/\r?\n$/, '');
  // Also what a failed read printed may hold the secret.
  if (text !== '') registerSecret(text);
  if (result.notFound) return { reason: 'the 1Password command line tool "op" is not installed' };
  if (result.timedOut) return { reason: `op did not answer within ${OP_TIMEOUT_MS / 1000} s` };
  if (result.truncated) return { reason: `the value is larger than ${OP_MAX_BYTES} bytes` };
  if (result.exitCode !== 0) {
    const said = redact(result.stderr.toString('utf8').split('\n')[0]?.trim() ?? '');
    return { reason: said === '' ? `op ended with ${result.exitCode ?? 'a signal'}` : said };
  }
  return { value: text };
}

function splitAccount(source: string): { reference: string; account: string | null } {
  const match = /[?&]account=([^&]*)$/.exec(source);
  if (match === null) return { reference: source, account: null };
  return { reference: source.slice(0, match.index), account: decodeURIComponent(match[1] ?? '') };
}

/** References are no secrets, but a literal is its own value. */
function publicSource(source: string): string {
  return source.startsWith('literal:') ? 'literal' : source;
}

function unresolved(failures: { name: string; source: string; reason: string }[]): JackinError {
  const list = failures.map(({ name, source, reason }) => `${name} (${source}): ${reason}`).join('; ');
  return new JackinError({
    code: 'ENV_UNRESOLVED',
    message: `Cannot resolve ${list}. Nothing was started.`,
    hint: `Set ${failures[0]?.source.startsWith('$') === true ? `the variable (export ${failures[0].source.slice(1)}=…)` : 'up the reference'} or change the configuration, then run the command again.`,
    details: { variables: failures },
  });
}

function definedOnly(env: EnvResolver['hostEnv']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
