import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Scene } from './scene.ts';

/** One way to make a git on the host run, read or believe something. */
export interface Plant {
  name: string;
  /** What kinds of tree it fits; default: both. */
  kinds?: readonly Scene['kind'][];
  plant(scene: Scene): Promise<unknown> | unknown;
  /** The plain git that runs the program, or reads outside; absent where today's git withstands, or nothing runs. */
  fires?: { args: readonly string[]; dir?: string; input?: string };
  proves?: 'runs' | 'reads';
}

/** Writes into the tree's own configuration, which an agent can do in a clone. */
export function setting(scene: Scene, text: string): void {
  appendFileSync(join(scene.commonDir, 'config'), `\n${text}\n`);
}

export function put(path: string, content: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

/** So that git does not believe the index about the file and looks into it. */
export function touch(path: string): void {
  utimesSync(path, 1, 1);
}

/** Puts something in the place of a file, a link to a copy of it outside. */
export function moveOutside(scene: Scene, path: string, name: string): string {
  const to = join(scene.outside, name);
  cpSync(path, to, { recursive: true });
  rmSync(path, { recursive: true });
  symlinkSync(to, path);
  return to;
}

export function fifo(path: string): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  const { status, stderr } = spawnSync('mkfifo', [path], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mkfifo ${path}: ${stderr}`);
}

/** A file that says it is huge and takes no space. */
export function huge(path: string, bytes = 2 ** 31): void {
  rmSync(path, { recursive: true, force: true });
  const file = openSync(path, 'w');
  ftruncateSync(file, bytes);
  closeSync(file);
}

/** A repository with a commit, in or out of the tree. */
export async function repositoryAt(scene: Scene, dir: string): Promise<void> {
  mkdirSync(dir, { recursive: true });
  await scene.git(['init', '--quiet'], { dir });
  put(join(dir, 'inner.txt'), 'inner\n');
  await scene.git(['add', '--all'], { dir });
  await scene.git(['commit', '--quiet', '--message', 'inner'], { dir });
}
