import { isReservedName } from '../env/references.ts';
import type { FieldIssue } from '../errors.ts';
import type { ManifestFields } from './manifest-schema.ts';

type Variables = NonNullable<ManifestFields['env']>;

/** What the variables of a manifest say about each other and cannot mean (docs/roles.md#manifest). */
export function variableIssues({ env = {} }: Pick<ManifestFields, 'env'>): FieldIssue[] {
  return Object.entries(env).flatMap(([name, variable]) => {
    const at = (key: string, reason: string): FieldIssue => ({ path: ['env', name, key], reason });
    const { default: value, options, depends_on: needed = [], prompt, interactive } = variable;
    const unknown = needed.find((other) => !Object.hasOwn(env, other));
    return [
      ...(isReservedName(name) ? [{ path: ['env', name], reason: 'jackin sets this variable itself' }] : []),
      ...(value !== undefined && options !== undefined && !options.includes(value)
        ? [at('default', 'is not one of its options')]
        : []),
      ...(prompt !== undefined && interactive === false
        ? [at('prompt', 'is never asked: interactive is false')]
        : []),
      ...(unknown === undefined ? [] : [at('depends_on', `there is no [env.${unknown}]`)]),
      ...(unknown === undefined && reachesItself(name, env)
        ? [at('depends_on', 'leads back to itself')]
        : []),
    ];
  });
}

function reachesItself(name: string, env: Variables): boolean {
  const seen = new Set<string>();
  const pending = [...(env[name]?.depends_on ?? [])];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next === name) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    pending.push(...(env[next]?.depends_on ?? []));
  }
  return false;
}
