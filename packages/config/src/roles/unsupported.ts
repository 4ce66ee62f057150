import { JackinError } from '@jackin/core';
import type { ManifestFields } from './manifest-schema.ts';

/**
 * The fields this version understands and cannot honour: only what asks for more, or for less, than every instance gets
 * anyway (docs/roles.md#fields-without-effect).
 */
export function unsupportedIn({ hooks = {}, env = {}, docker = {} }: ManifestFields): string[] {
  const { min_profile: profile, dind, allowed_hosts: hosts = [], capabilities_add: added = [] } = docker;
  return [
    ...Object.keys(hooks).map((name) => `hooks.${name}`),
    ...Object.keys(env).map((name) => `env.${name}`),
    ...(profile === 'locked' || profile === 'hardened' ? ['docker.min_profile'] : []),
    ...(dind === undefined || dind === 'none' ? [] : ['docker.dind']),
    ...(hosts.length === 0 ? [] : ['docker.allowed_hosts']),
    ...(added.length === 0 ? [] : ['docker.capabilities_add']),
  ];
}

/**
 * Never ignored: what a role asks for may be what keeps it safe.
 * @param fields of its manifest that cannot be honoured where it is going to run
 */
export function roleUnsupported(directory: string, fields: readonly string[]): JackinError {
  return new JackinError({
    code: 'ROLE_UNSUPPORTED',
    message: `The role in ${directory} asks for what this version cannot do: ${fields.join(', ')}.`,
    hint: 'Take these fields out of its jackin.role.toml, or use a role without them.',
    details: { directory, fields: [...fields] },
  });
}
