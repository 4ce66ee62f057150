import { isTable, parseToml, type TomlEdit, type TomlTable } from '../document/index.ts';

/**
 * Trust was given to a repository, so it does not go over to another one of the same key: the edits that take it back
 * from roles whose address the edits changed. An edit that names the trust itself has the last word.
 */
export function untrusted(before: string, after: string, edits: readonly TomlEdit[]): TomlEdit[] {
  const [old, now] = [rolesOf(before), rolesOf(after)];
  const named = new Set(
    edits
      .filter(({ path }) => path[0] === 'roles' && path[2] === 'trusted')
      .map(({ path }) => String(path[1])),
  );
  return Object.entries(now).flatMap(([key, role]): TomlEdit[] => {
    const former = old[key];
    if (!isTable(role) || !isTable(former) || role.trusted !== true || former.trusted !== true) return [];
    if (role.git === former.git || named.has(key)) return [];
    return [{ path: ['roles', key, 'trusted'], remove: true }];
  });
}

function rolesOf(text: string): TomlTable {
  const { roles } = parseToml(text);
  return isTable(roles) ? roles : {};
}
