import { mkdir, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bootId, newNonce, type ProcessIdentity, processState } from '@jackin/core';
import { temporary } from './alone.ts';
import { addressesTaken, labName } from './network.ts';

/** What is known of a lab to whoever finds its directory. */
export interface LabRecord {
  /** Tells it from a later lab with its number. */
  id: string;
  /** Decides its name and its addresses. */
  number: number;
  /** The directory of everything the engine writes. */
  dir: string;
  /** The lab ends with this process; null: it stays until somebody ends it, or until the machine starts anew. */
  owner: ProcessIdentity | null;
  boot_id: string;
  /** How many networks the address pool holds. */
  networks: number;
  /** A link that an operator asked for. */
  link: string | null;
}

const NUMBERS = { from: 100, to: 199 };
const RECORD = 'lab.json';
const GONE = '.gone-';

/** Takes the first free number. Only alone with `labs`. @throws Error when there is none. */
export async function claim(wanted: {
  owner: ProcessIdentity | null;
  networks: number;
  link: string | null;
}): Promise<LabRecord> {
  for (let number = NUMBERS.from; number <= NUMBERS.to; number++) {
    if (addressesTaken(number)) continue;
    const dir = join(await temporary(), labName(number));
    try {
      await mkdir(dir, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    const link = wanted.link === null ? null : resolve(wanted.link);
    const record: LabRecord = { ...wanted, id: newNonce(), number, dir, boot_id: await bootId(), link };
    await writeFile(join(dir, RECORD), `${JSON.stringify(record)}\n`);
    if (link !== null) await symlink(dir, link);
    return record;
  }
  throw new Error(`No number is free for another lab in ${await temporary()}.`);
}

/** The lab whose directory, or the link to it, is `dir`. @throws Error when there is none. */
export async function readRecord(dir: string): Promise<LabRecord> {
  try {
    return JSON.parse(await readFile(join(await realpath(dir), RECORD), 'utf8'));
  } catch (error) {
    throw new Error(`There is no lab in ${dir}.`, { cause: error });
  }
}

/** Whether the lab is still there, and not another one with its number. */
export async function exists({ dir, id }: LabRecord): Promise<boolean> {
  const there = await readRecord(dir).catch(() => null);
  return there?.id === id;
}

/** Labs whose owner is dead or that a former boot left. Only alone with `labs`: a claim half made is one of them. */
export async function staleLabs(): Promise<LabRecord[]> {
  const root = await temporary();
  const names = (await readdir(root)).filter((name) => /^jkl-\d+$/.test(name));
  const stale: LabRecord[] = [];
  for (const name of names) {
    const dir = join(root, name);
    const record = await readRecord(dir).catch(() => null);
    const number = Number(name.slice('jkl-'.length));
    if (record === null)
      stale.push({ id: '', number, dir, owner: null, boot_id: '', networks: 1, link: null });
    else if (await isStale(record)) stale.push(record);
  }
  return stale;
}

/** Gives the number back; where the lab's files are now, which nobody can take for a lab any more. */
export async function giveUp({ dir, link }: LabRecord): Promise<string> {
  if (link !== null && (await realpath(link).catch(() => null)) === dir) await rm(link);
  const gone = `${dir}${GONE}${newNonce()}`;
  await rename(dir, gone);
  return gone;
}

/** What was given up and not removed to the end. Only alone with `labs`. */
export async function givenUp(): Promise<string[]> {
  const root = await temporary();
  const names = (await readdir(root)).filter((name) => /^jkl-\d+\.gone-/.test(name));
  return names.map((name) => join(root, name));
}

async function isStale({ owner, boot_id }: LabRecord): Promise<boolean> {
  if (boot_id !== (await bootId())) return true;
  return owner !== null && (await processState(owner)) === 'dead';
}
