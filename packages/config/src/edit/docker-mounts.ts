import { JackinError } from '@jackin/core';
import { isTable, type TomlEdit, type TomlTable } from '../document/index.ts';
import { type MountSpec, samePlace } from '../mounts.ts';
import { settingNotFound } from './variables.ts';

const PATH = ['docker', 'mounts'];

/** A mount as a file says it: what goes without saying is left out. */
export function mountValue({ src, dst, readonly, isolation }: MountSpec): TomlTable {
  return {
    src,
    dst,
    ...(readonly ? { readonly } : {}),
    ...(isolation === 'shared' ? {} : { isolation }),
  };
}

/**
 * Names a mount that every session gets (docs/configuration.md#mounts-for-every-session).
 * @throws JackinError `SETTING_EXISTS` when the name stands for another one
 */
export function addDockerMount(name: string, mount: MountSpec): (current: TomlTable) => TomlEdit[] {
  return (current) => {
    const known = mountsIn(current);
    const existing = Object.hasOwn(known, name) ? known[name] : undefined;
    if (existing !== undefined && !isSame(existing, mount)) throw exists(name);
    return existing === undefined ? [{ path: [...PATH, name], set: mountValue(mount) }] : [];
  };
}

/** @throws JackinError `SETTING_NOT_FOUND` */
export function removeDockerMount(name: string): (current: TomlTable) => TomlEdit[] {
  return (current) => {
    const known = Object.keys(mountsIn(current));
    if (!known.includes(name)) throw settingNotFound('[docker.mounts]', 'mount', [name], known);
    return [{ path: [...PATH, name], remove: true }];
  };
}

function mountsIn({ docker }: TomlTable): TomlTable {
  const mounts = isTable(docker) ? docker.mounts : undefined;
  return isTable(mounts) ? mounts : {};
}

function isSame(existing: unknown, { src, dst, readonly }: MountSpec): boolean {
  return (
    isTable(existing) &&
    samePlace(String(existing.src), src) &&
    samePlace(String(existing.dst), dst) &&
    (existing.readonly ?? false) === readonly
  );
}

function exists(name: string): JackinError {
  return new JackinError({
    code: 'SETTING_EXISTS',
    message: `There is a mount ${JSON.stringify(name)} in [docker.mounts] already.`,
    hint: `Choose another name, or first: jackin config mount remove ${name}`,
    details: { name },
  });
}
