import { roleInvalid } from './role-errors.ts';

const TAG_DIGITS = 12;
const MAX_NAME_CHARS = 200;

/**
 * `jk_<role>` or `jk_<namespace>_<role>`, with the first digits of the hash as its tag (docs/storage.md#names). What
 * the engine does not take in a name becomes `-`; the hash covers the key, so two keys never share a tag.
 */
export function imageTag(roleKey: string, hash: string): string {
  const name = roleKey
    .split('/')
    .map(part)
    .join('_')
    .slice(0, MAX_NAME_CHARS)
    .replace(/[._-]+$/, '');
  return `jk_${name}:${hash.slice(0, TAG_DIGITS)}`;
}

/** The key becomes a label of the image as it is. @throws JackinError `ROLE_INVALID` */
export function checkRoleKey(roleKey: string): void {
  if (/^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/.test(roleKey)) return;
  throw roleInvalid(
    'config.toml',
    { key: 'roles', reason: `${JSON.stringify(roleKey)} cannot name an image` },
    'Give the role a key of letters, digits, ".", "_", "-" and "/".',
  );
}

function part(text: string): string {
  const clean = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/[._-]{2,}/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '');
  return clean === '' ? 'role' : clean;
}
