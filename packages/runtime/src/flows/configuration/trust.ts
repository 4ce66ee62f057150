import type { Edits } from '@jackin/config';
import { JackinError } from '@jackin/core';

/**
 * The edit that says a role's repository is trusted, or is not any more (docs/roles.md#repositories).
 * @throws JackinError when it is applied: ROLE_UNKNOWN, ROLE_GIT_INVALID for what is no repository
 */
export function trustEdits(key: string, trusted: boolean): Edits {
  return ({ roles }) => {
    const known = typeof roles === 'object' && roles !== null ? (roles as Record<string, unknown>) : {};
    const role = Object.hasOwn(known, key) ? (known[key] as Record<string, unknown>) : undefined;
    if (typeof role?.git !== 'string') throw refusal(key, role !== undefined, known);
    return [{ path: ['roles', key, 'trusted'], set: trusted }];
  };
}

function refusal(key: string, configured: boolean, known: Record<string, unknown>): JackinError {
  if (configured) {
    return new JackinError({
      code: 'ROLE_GIT_INVALID',
      message: `The role ${key} is no repository: it needs no trust`,
      hint: `Use it with: jackin load ${key}`,
      details: { role: key },
      exitCode: 2,
    });
  }
  const names = Object.keys(known);
  return new JackinError({
    code: 'ROLE_UNKNOWN',
    message: `There is no role ${JSON.stringify(key)} in config.toml`,
    hint: `${names.length === 0 ? 'There is none.' : `There is: ${names.join(', ')}.`} Name a repository first: jackin config set roles.${key}.git URL`,
    details: { role: key, known: names },
    exitCode: 2,
  });
}
