import { createHash } from 'node:crypto';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { materialiseRuntime, type RuntimeFile } from '@jackin/capsule';
import { fileSystemError, readFileBounded, writeFileDurable } from '@jackin/core';

const KEY_DIGITS = 32;

/**
 * The files a container's capsule runs from, copied once into `<runtimeRoot>/<digest>/` and mounted read-only: Node, the
 * capsule as one file, and the terminal binding where its loader looks for it (docs/architecture.md#capsule).
 * @param options.nodeBinary a Node for the engine's platform that needs no libraries of its own
 * @param options.ptyPackageDir `node_modules/@lydell/node-pty-<platform>-<arch>` for the same platform
 * @throws JackinError as `materialiseRuntime`, and `STATE_NOT_READABLE` for a package that cannot be read
 */
export async function containerRuntime(options: {
  capsuleBundle: string;
  nodeBinary: string;
  ptyPackageDir: string;
  runtimeRoot: string;
}): Promise<{ dir: string; digest: string }> {
  const { capsuleBundle, nodeBinary, ptyPackageDir, runtimeRoot } = options;
  const files: RuntimeFile[] = [
    { path: 'node', source: nodeBinary },
    { path: 'capsule.mjs', source: capsuleBundle },
    ...(await packageFiles(ptyPackageDir)),
  ];
  const note = join(runtimeRoot, `.known-${await sourcesKey(files)}`);
  const known = await knownRuntime(note, runtimeRoot, files);
  if (known !== null) return known;
  const { dir, digest } = await materialiseRuntime({ runtimeRoot, files });
  await writeFileDurable(note, digest);
  return { dir, digest };
}

/** Changes with everything that tells one version of the sources from another, without reading a hundred megabytes. */
async function sourcesKey(files: readonly RuntimeFile[]): Promise<string> {
  const seen = await Promise.all(
    files.map(async ({ path, source }) => {
      const { size, mtimeMs, ctimeMs, ino, mode } = await stat(source).catch((error: unknown) => {
        throw fileSystemError(error, source, 'read');
      });
      return [path, source, size, mtimeMs, ctimeMs, ino, mode];
    }),
  );
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex').slice(0, KEY_DIGITS);
}

/** What an earlier call made of the same sources, if it is still whole; null: it has to be looked at in full. */
async function knownRuntime(
  note: string,
  runtimeRoot: string,
  files: readonly RuntimeFile[],
): Promise<{ dir: string; digest: string } | null> {
  const digest = (await readFileBounded(note, { maxBytes: 200 }))?.toString('utf8') ?? '';
  if (!/^[0-9a-f]{64}$/.test(digest)) return null;
  const dir = join(runtimeRoot, digest);
  const whole = await Promise.all(
    files.map(async ({ path, source }) => {
      const [copy, original] = await Promise.all([lstat(join(dir, path)).catch(() => null), stat(source)]);
      return copy?.isFile() === true && copy.size === original.size;
    }),
  );
  return whole.every(Boolean) ? { dir, digest } : null;
}

async function packageFiles(packageDir: string): Promise<RuntimeFile[]> {
  const target = `node_modules/@lydell/${basename(packageDir)}`;
  try {
    const entries = await readdir(packageDir, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const source = join(entry.parentPath, entry.name);
        return { path: `${target}/${source.slice(packageDir.length).replace(/^\/+/, '')}`, source };
      });
  } catch (error) {
    throw fileSystemError(error, packageDir, 'read');
  }
}
