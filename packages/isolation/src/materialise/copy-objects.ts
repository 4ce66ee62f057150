import { constants } from 'node:fs';
import { copyFile, cp, mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorCode, JackinError, readFileBounded } from '@jackin/core';

const ALTERNATES_BYTES = 1024 * 1024;
const ALTERNATES_DEPTH = 5;
const ROUNDS = 5;
const FILES_AT_ONCE = 32;
const PACK_FILE = /^pack-[0-9a-f]+\.(pack|idx|rev|bitmap|mtimes)$/;

/**
 * Copies every object a repository has, borrowed ones too, into another one: real copies (or copy-on-write ones where
 * the file system can), never links, so that nobody who may write one store can change the other.
 * @param from an `objects` directory @param to another one
 */
export async function copyObjects(from: string, to: string, signal?: AbortSignal): Promise<void> {
  await mkdir(join(to, 'pack'), { recursive: true });
  for (const store of await storesOf(from)) {
    // A repack on the host turns loose objects into packs meanwhile, so packs go last.
    await copyLoose(store, to, signal);
    await copyPacks(join(store, 'pack'), join(to, 'pack'), signal);
  }
}

/** Copies the files git-lfs keeps. A repository without any is success. */
export async function copyLfsObjects(fromGitDir: string, toGitDir: string): Promise<void> {
  const from = join(fromGitDir, 'lfs', 'objects');
  const mode = constants.COPYFILE_FICLONE;
  await cp(from, join(toGitDir, 'lfs', 'objects'), { recursive: true, mode }).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
}

async function storesOf(objects: string): Promise<string[]> {
  const stores = new Set([objects]);
  let layer = [objects];
  for (let depth = 0; layer.length > 0; depth += 1) {
    if (depth > ALTERNATES_DEPTH) throw tooDeep(objects);
    const borrowed = (await Promise.all(layer.map(alternatesOf))).flat();
    layer = borrowed.filter((store) => !stores.has(store));
    for (const store of layer) stores.add(store);
  }
  return [...stores];
}

async function alternatesOf(objects: string): Promise<string[]> {
  const file = join(objects, 'info', 'alternates');
  const bytes = await readFileBounded(file, { maxBytes: ALTERNATES_BYTES, follow: true });
  const lines = bytes?.toString('utf8').split('\n') ?? [];
  return lines.filter((text) => text !== '' && !text.startsWith('#')).map((text) => resolve(objects, text));
}

async function copyLoose(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  const fans = (await readdir(from)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const fan of fans) {
    const names = (await readdir(join(from, fan)).catch(absentAsNone)).filter((name) =>
      /^[0-9a-f]+$/.test(name),
    );
    if (names.length === 0) continue;
    await mkdir(join(to, fan), { recursive: true });
    await copyAll(names, join(from, fan), join(to, fan), signal);
  }
}

async function copyPacks(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  const copied = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const names = (await readdir(from).catch(absentAsNone)).filter((name) => PACK_FILE.test(name));
    const fresh = names.filter((name) => !copied.has(name));
    if (fresh.length === 0) return;
    for (const name of await copyAll(fresh, from, to, signal)) copied.add(name);
  }
  throw new JackinError({
    code: 'SOURCE_CHANGING',
    message: `The objects in ${JSON.stringify(from)} are being repacked again and again.`,
    hint: 'Let git finish its work there, then run the command again.',
    details: { path: from },
  });
}

/** Which were copied: one that is gone meanwhile is in another pack. */
async function copyAll(
  names: readonly string[],
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const copied: string[] = [];
  for (let at = 0; at < names.length; at += FILES_AT_ONCE) {
    signal?.throwIfAborted();
    await Promise.all(
      names.slice(at, at + FILES_AT_ONCE).map(async (name) => {
        try {
          await copyFile(join(from, name), join(to, name), constants.COPYFILE_FICLONE);
          copied.push(name);
        } catch (error) {
          if (errorCode(error) !== 'ENOENT') throw error;
        }
      }),
    );
  }
  return copied;
}

function absentAsNone(error: unknown): string[] {
  if (errorCode(error) === 'ENOENT') return [];
  throw error;
}

function tooDeep(objects: string): JackinError {
  return new JackinError({
    code: 'SOURCE_UNKNOWN',
    message: `The objects in ${JSON.stringify(objects)} are borrowed from too many repositories in turn.`,
    hint: 'Make the repository stand alone: git repack -a -d, then remove its objects/info/alternates.',
    details: { path: objects },
  });
}
