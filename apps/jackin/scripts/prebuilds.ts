import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREBUILD_TARGETS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

export interface Prebuild {
  name: string;
  version: string;
}

interface LockFile {
  packages: Record<string, { version?: string; integrity?: string }>;
}

/** The node-pty binaries of every platform jackin runs on, as the lock file pins them. */
export function lockedPrebuilds(lock: LockFile): (Prebuild & { integrity: string })[] {
  return PREBUILD_TARGETS.map((target) => {
    const name = `@lydell/node-pty-${target}`;
    const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
    if (!version || !integrity) throw new Error(`package-lock.json pins no version and integrity of ${name}`);
    return { name, version, integrity };
  });
}

/**
 * Unpacks the prebuilt packages under `modulesDir`. npm installs only the one of this machine, so each comes as a
 * tarball through npm's configured registry (or its cache) and must have the bytes that the lock file promises.
 */
export function addPrebuilds(lockFile: string, modulesDir: string): Prebuild[] {
  const prebuilds = lockedPrebuilds(JSON.parse(readFileSync(lockFile, 'utf8')));
  const specs = prebuilds.map(({ name, version }) => `${name}@${version}`);
  const download = mkdtempSync(join(tmpdir(), 'jk-prebuilds-'));
  try {
    const options = ['--prefer-offline', '--silent', '--pack-destination', download];
    execFileSync('npm', ['pack', ...specs, ...options], {
      cwd: download,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    for (const { name, version, integrity } of prebuilds) {
      const tarball = join(download, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
      checkIntegrity(`${name}@${version}`, readFileSync(tarball), integrity);
      const target = join(modulesDir, name);
      mkdirSync(target, { recursive: true });
      execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
    }
  } finally {
    rmSync(download, { recursive: true, force: true });
  }
  return prebuilds.map(({ name, version }) => ({ name, version }));
}

/** Throws unless `bytes` have the subresource integrity `expected` (e.g. `sha512-…`). */
export function checkIntegrity(what: string, bytes: Uint8Array, expected: string): void {
  const algorithm = expected.slice(0, expected.indexOf('-'));
  const actual = `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;
  if (actual !== expected) throw new Error(`${what} has integrity ${actual}, the lock file says ${expected}`);
}
