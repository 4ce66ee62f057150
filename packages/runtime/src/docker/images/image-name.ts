import { roleInvalid } from '@jackin/config';

const HASH_DIGITS = 12;
const COMMIT_DIGITS = 7;
const MAX_NAME_CHARS = 200;

/**
 * `jk_<role>` or `jk_<namespace>_<role>`, with the first digits of the role's commit as its tag, or of the hash of what
 * a directory holds (docs/storage.md#names). What the engine does not take in a name becomes `-`. A tag is a name for
 * people: whether an image is the right one is told by its label, which has the whole hash.
 */
export function imageTag(roleKey: string, pin: { commit: string | null; hash: string }): string {
  const name = roleKey
    .split('/')
    .map(part)
    .join('_')
    .slice(0, MAX_NAME_CHARS)
    .replace(/[._-]+$/, '');
  const { commit, hash } = pin;
  return `jk_${name}:${commit === null ? hash.slice(0, HASH_DIGITS) : commit.slice(0, COMMIT_DIGITS)}`;
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
