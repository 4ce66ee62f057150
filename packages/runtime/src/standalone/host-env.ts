/**
 * The names of the host's environment that a standalone instance inherits: what finds programs, speaks the language,
 * and reaches the network. Nothing that points into the operator's own HOME, and no credentials.
 */
const INHERITED = [
  'PATH',
  'LANG',
  'LANGUAGE',
  'TZ',
  'USER',
  'LOGNAME',
  'SHELL',
  'TMPDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

export function hostEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (INHERITED.includes(name) || name.startsWith('LC_'))) inherited[name] = value;
  }
  return inherited;
}
