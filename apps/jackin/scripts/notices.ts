import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The part of esbuild's metafile that is read here. */
export interface BundleMeta {
  inputs: Record<string, unknown>;
}

interface PackageManifest {
  name: string;
  version: string;
  license?: string;
}

const SEPARATOR = `\n${'-'.repeat(80)}\n\n`;

/**
 * The licences of every package with a file in the bundle (paths of `meta` are relative to `metaDir`), and of
 * `extraDirs`. Throws for a package that states no licence at all. Our own packages are not third parties.
 */
export function thirdPartyNotices(meta: BundleMeta, metaDir: string, extraDirs: string[]): string {
  const bundled = Object.keys(meta.inputs)
    .filter((input) => /(^|\/)node_modules\//.test(input))
    .map((input) => packageDirOf(join(metaDir, input)));
  const dirs = [...new Set([...bundled, ...extraDirs])];
  const entries = dirs.map((dir) => ({ dir, manifest: readManifest(dir) }));
  entries.sort((a, b) => (a.manifest.name < b.manifest.name ? -1 : 1));
  const head = 'jackin includes the following third-party software.\n';
  return [head, ...entries.map(({ dir, manifest }) => noticeOf(dir, manifest))].join(SEPARATOR);
}

function noticeOf(dir: string, manifest: PackageManifest): string {
  const texts = readdirSync(dir)
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(dir, name), 'utf8').trim());
  if (!manifest.license && texts.length === 0) throw new Error(`${manifest.name} states no licence (${dir})`);
  const title = `${manifest.name} ${manifest.version} (${manifest.license ?? 'see below'})`;
  return `${[title, ...texts].join('\n\n')}\n`;
}

function readManifest(dir: string): PackageManifest {
  return JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
}

/** The nearest directory above `file` whose package.json has a name: nested ones only set a module type. */
function packageDirOf(file: string): string {
  for (let dir = dirname(file); relative(dir, file) !== file && dir !== dirname(dir); dir = dirname(dir)) {
    if (existsSync(join(dir, 'package.json')) && readManifest(dir).name) return dir;
  }
  throw new Error(`${file} belongs to no package`);
}
