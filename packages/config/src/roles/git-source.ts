import { createHash } from 'node:crypto';
import { basename, isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { JackinError } from '@jackin/core';

/** A repository whose address may be used and shown. */
export interface GitSource {
  url: string;
  transport: 'https' | 'ssh' | 'file';
}

const SCP = /^(?:[\w.+-]+@)?[A-Za-z0-9][\w.-]*:(?!\/\/)[^\s:][^\s]*$/;

/** Whether a recorded role source is a repository rather than a directory or one of ours. */
export function isGitAddress(text: string): boolean {
  return (
    !text.startsWith('builtin:') && !isAbsolute(text) && (/^[a-z][a-z0-9+.-]*:/i.test(text) || SCP.test(text))
  );
}

/**
 * The address of a role's repository: https, ssh (also as `user@host:path`), file, or an absolute path. Others are
 * refused: they can run programs, or nobody has to prove who they are. An address with a password in it would be
 * stored with every session, so git's own ways to keep one are asked for instead.
 * @param key of the role, for the message
 * @throws JackinError `ROLE_GIT_INVALID`; the address is not quoted when it holds a credential
 */
export function gitSource(key: string, address: string): GitSource {
  const refuse = (told: string, hint: string) =>
    new JackinError({
      code: 'ROLE_GIT_INVALID',
      message: `The repository of the role ${key} cannot be used: ${told}.`,
      hint,
      details: { role: key, key: `roles.${key}.git` },
    });
  const forms = 'Write https://…, ssh://…, user@host:path, file:///… or an absolute path in config.toml.';
  if (isAbsolute(address)) return { url: pathToFileURL(address).href, transport: 'file' };
  if (address === '' || /[\s\p{Cc}]/u.test(address) || address.startsWith('-')) {
    throw refuse('its address is empty or holds characters no address has', forms);
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    if (SCP.test(address) && !address.includes('::')) return { url: address, transport: 'ssh' };
    throw refuse(`${JSON.stringify(address)} is no address of a repository`, forms);
  }
  if (scheme !== 'https' && scheme !== 'ssh' && scheme !== 'file') {
    throw refuse(`it is reached by ${scheme}, which is not used for roles`, forms);
  }
  const user = /^[a-z]+:\/\/([^/@]*)@/i.exec(address)?.[1];
  if (user !== undefined && (scheme !== 'ssh' || user.includes(':'))) {
    throw refuse(
      'its address holds a credential',
      'Take it out of config.toml, and let git keep it: git config --global credential.helper store, or use ssh.',
    );
  }
  if (scheme === 'ssh' && /^ssh:\/\/([^/@]*@)?-/i.test(address)) throw refuse('its host is no host', forms);
  return { url: address, transport: scheme };
}

/** A name for what is cached of it: readable, and its own. */
export function cacheName({ url }: GitSource): string {
  const last = basename(url.replace(/[/:]+$/, '').replaceAll(':', '/')).replace(/\.git$/, '');
  const readable = last
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  const hash = createHash('sha256').update(url).digest('hex').slice(0, 12);
  return `${readable === '' ? 'role' : readable}-${hash}`;
}

/** @throws JackinError `ROLE_GIT_INVALID` */
export function checkBranch(key: string, branch: string): void {
  const wrong =
    !/^[A-Za-z0-9][\w./+-]*$/.test(branch) ||
    /\.\.|\/\/|\.$|\/$|\.lock(\/|$)|\/\./.test(branch) ||
    branch.length > 200;
  if (!wrong) return;
  throw new JackinError({
    code: 'ROLE_GIT_INVALID',
    message: `${JSON.stringify(branch)} is no branch the role ${key} could have.`,
    hint: `Name a branch of its repository, or leave it out for the repository's own default.`,
    details: { role: key, branch },
  });
}
