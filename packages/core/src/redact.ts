const secrets = new Set<string>();

/** Registers a value that must never be printed or stored. Values shorter than 4 characters are ignored. */
export function registerSecret(value: string): void {
  if (value.length >= 4) secrets.add(value);
}

/** Text with registered secrets, URL credentials and authorization headers masked. */
export function redact(text: string): string {
  let result = text;
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    result = result.replaceAll(secret, '[redacted]');
  }
  return result
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1[redacted]@')
    .replace(/(authorization:\s*)(\S+(?:\s+\S+)?)/gi, '$1[redacted]');
}
