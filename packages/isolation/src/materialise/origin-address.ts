import { resolve } from 'node:path';

/** The addresses that are the same place over https, without a key of the operator's. */
const GITHUB_HOSTS = new Set(['github.com', 'www.github.com', 'ssh.github.com']);

/**
 * The address a clone gets as its `origin`: credentials stripped, and GitHub over ssh becomes https, for the keys do
 * not come along (docs/isolation.md#clone). Null when it is no address git can be given safely.
 * @param base what a relative path is relative to
 */
export function publicAddress(address: string, base: string): string | null {
  if (address === '' || /[\p{Cc}]/u.test(address) || address.startsWith('-')) return null;
  if (/^[A-Za-z][\w+.-]*::/.test(address)) return null;
  const url = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/]*)(.*)$/.exec(address);
  if (url !== null) return publicUrl(url[1] ?? '', url[2] ?? '', url[3] ?? '');
  // As git tells them apart: a colon before the first slash is a host.
  const remote = /^((?:[^@/:]+@)?(?:\[[^\]]+\]|[^/:]+)):(.*)$/s.exec(address);
  if (remote !== null) return publicScp(remote[1] ?? '', remote[2] ?? '');
  return resolve(base, address);
}

/** The address the operator's `url.<base>.insteadOf` settings make of one: the longest match wins. */
export function rewrittenAddress(
  address: string,
  rules: readonly { base: string; insteadOf: string }[],
): string {
  let best: { base: string; insteadOf: string } | null = null;
  for (const rule of rules) {
    if (address.startsWith(rule.insteadOf) && rule.insteadOf.length > (best?.insteadOf.length ?? -1))
      best = rule;
  }
  return best === null ? address : best.base + address.slice(best.insteadOf.length);
}

function publicUrl(scheme: string, authority: string, rest: string): string | null {
  const protocol = scheme.toLowerCase();
  const at = authority.lastIndexOf('@');
  const user = at === -1 ? '' : authority.slice(0, at);
  const host = authority.slice(at + 1);
  // What is left of a credential with a slash in it would look like a port.
  if (protocol !== 'file' && !/^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(:\d*)?$/.test(host)) return null;
  const name = host.replace(/:\d*$/, '').toLowerCase();
  const ssh = ['ssh', 'git+ssh', 'ssh+git'].includes(protocol);
  if (GITHUB_HOSTS.has(name) && (ssh || protocol === 'git' || protocol === 'http')) {
    return `https://github.com${rest}`;
  }
  if (ssh) {
    const login = user.split(':')[0] ?? '';
    return `${scheme}://${login === '' ? '' : `${login}@`}${host}${rest}`;
  }
  const web = protocol === 'http' || protocol === 'https';
  return `${scheme}://${host}${web ? rest.replace(/[?#].*$/, '') : rest}`;
}

function publicScp(host: string, path: string): string {
  const name = host.slice(host.lastIndexOf('@') + 1).toLowerCase();
  return GITHUB_HOSTS.has(name) ? `https://github.com/${path.replace(/^\/+/, '')}` : `${host}:${path}`;
}
