import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, rename, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';
import {
  ensurePrivateDir,
  errorCode,
  fileSystemError,
  JackinError,
  removeTree,
  syncDirectory,
} from '@jackin/core';

export interface RuntimeFile {
  /** Where it goes, relative to the runtime directory, with `/`. */
  path: string;
  /** Where it is now. A link is followed. */
  source: string;
}

export interface MaterialiseOptions {
  /** `<home>/runtime`; made if it is missing. */
  runtimeRoot: string;
  files: RuntimeFile[];
}

/** `digest` is the hex SHA-256 that names the directory. */
export interface Runtime {
  digest: string;
  dir: string;
}

/**
 * Copies files into `<runtimeRoot>/<digest>/`, named by their paths, modes and bytes: an instance that mounts it
 * finds the same bytes there after any upgrade (docs/architecture.md). Copies share blocks where the file system can.
 *
 * Appears whole or not at all, may run any number of times at once, and checks a directory that exists already: one
 * that was damaged is replaced.
 * @throws JackinError `RUNTIME_PATH_INVALID`, `RUNTIME_SOURCE_CHANGED`, `STATE_NOT_READABLE`, `STATE_NOT_WRITABLE`,
 * `STATE_DIR_NOT_PRIVATE`, `DISK_FULL`
 */
export async function materialiseRuntime({ runtimeRoot, files }: MaterialiseOptions): Promise<Runtime> {
  const wanted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  checkPaths(wanted);
  const digest = await digestOf(wanted);
  const dir = join(runtimeRoot, digest);
  await ensurePrivateDir(runtimeRoot);
  if (await isIntact(dir, digest)) return { digest, dir };
  const temporary = join(
    runtimeRoot,
    `.${digest.slice(0, 16)}.${process.pid}.${randomBytes(4).toString('hex')}`,
  );
  try {
    await copyAll(wanted, temporary);
    if (!(await isIntact(temporary, digest))) throw sourceChanged(wanted);
    await install(runtimeRoot, temporary, dir, digest);
  } finally {
    await removeTree(temporary, { inside: runtimeRoot });
  }
  return { digest, dir };
}

async function install(runtimeRoot: string, temporary: string, dir: string, digest: string): Promise<void> {
  try {
    await rename(temporary, dir);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCode(error) ?? '')) {
      throw fileSystemError(error, dir, 'write');
    }
    if (await isIntact(dir, digest)) return;
    const damaged = `${temporary}.damaged`;
    await rename(dir, damaged);
    await removeTree(damaged, { inside: runtimeRoot });
    // Somebody else may have put theirs there meanwhile: as good as ours.
    await rename(temporary, dir).catch(async (again: unknown) => {
      if (!(await isIntact(dir, digest))) throw fileSystemError(again, dir, 'write');
    });
  }
  await syncDirectory(runtimeRoot);
}

async function copyAll(files: RuntimeFile[], directory: string): Promise<void> {
  const directories = new Set<string>([directory]);
  for (const { path, source } of files) {
    const target = join(directory, path);
    try {
      await mkdir(dirname(target), { recursive: true, mode: 0o755 });
      for (let at = dirname(target); at !== directory; at = dirname(at)) directories.add(at);
      await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await chmod(target, await modeOf(source));
      await syncFile(target);
    } catch (error) {
      throw fileSystemError(error, target, 'write');
    }
  }
  for (const one of directories) {
    await chmod(one, 0o755);
    await syncDirectory(one);
  }
}

/** True when the directory holds exactly what its digest says. */
async function isIntact(dir: string, digest: string): Promise<boolean> {
  try {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => {
        if (!entry.isFile()) throw new Error(`${entry.name} is not a file`);
        const source = join(entry.parentPath, entry.name);
        return {
          path: source
            .slice(dir.length + 1)
            .split(sep)
            .join('/'),
          source,
        };
      });
    return (await digestOf(files.sort((a, b) => (a.path < b.path ? -1 : 1)))) === digest;
  } catch {
    return false;
  }
}

/** Over path, mode and content of each file, each with its length, so that nothing can be taken for something else. */
async function digestOf(files: RuntimeFile[]): Promise<string> {
  const all = createHash('sha256');
  for (const { path, source } of files) {
    const one = createHash('sha256');
    try {
      const mode = await modeOf(source);
      const handle = await open(source, 'r');
      for await (const chunk of handle.createReadStream()) one.update(chunk as Buffer);
      all.update(JSON.stringify([path, mode, one.digest('hex')])).update('\n');
    } catch (error) {
      throw fileSystemError(error, source, 'read');
    }
  }
  return all.digest('hex');
}

/** Whether a file can be executed is all that counts; everybody in a container may have to read it. */
async function modeOf(file: string): Promise<number> {
  return ((await stat(file)).mode & 0o111) === 0 ? 0o644 : 0o755;
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function checkPaths(files: RuntimeFile[]): void {
  const seen = new Set<string>();
  for (const { path } of files) {
    const inside = path !== '' && !isAbsolute(path) && normalize(path) === path && !path.startsWith('..');
    if (inside && !path.endsWith('/') && !seen.has(path)) seen.add(path);
    else throw invalidPath(path);
  }
}

function invalidPath(path: string): JackinError {
  return new JackinError({
    code: 'RUNTIME_PATH_INVALID',
    message: `${JSON.stringify(path)} is not a path of its own inside a runtime directory.`,
  });
}

function sourceChanged(files: RuntimeFile[]): JackinError {
  return new JackinError({
    code: 'RUNTIME_SOURCE_CHANGED',
    message: `The runtime files changed while they were copied (${files.map(({ source }) => source).join(', ')}).`,
    hint: 'Run the command again when the installation of jackin or Node is finished.',
  });
}
