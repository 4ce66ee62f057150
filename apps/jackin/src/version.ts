import { readFileSync } from 'node:fs';

/** Set by the bundler; absent when the sources run directly. */
declare const JACKIN_VERSION: string | undefined;

/** True in the published bundle, whose files all lie in one directory. */
export const bundled: boolean = typeof JACKIN_VERSION === 'string';

/** The version of this jackin. */
export const version: string = typeof JACKIN_VERSION === 'string' ? JACKIN_VERSION : ownVersion();

function ownVersion(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
