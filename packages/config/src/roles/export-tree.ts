import { chmod, mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type EventSink,
  fileSystemError,
  gitWords,
  hardenedGit,
  JackinError,
  succeeded,
  syncDirectory,
} from '@jackin/core';
import { roleInvalid } from './errors.ts';
import { parseTree, staysInside, type TreeFile } from './tree-list.ts';

export interface ExportInput {
  gitDir: string;
  commit: string;
  /** Does not exist yet. */
  target: string;
  /** The address, for messages. */
  repository: string;
  events: EventSink;
  signal?: AbortSignal | undefined;
  env?: NodeJS.ProcessEnv | undefined;
}

const CALL_MS = 60_000;
const CHUNK_BYTES = 16 * 1024 * 1024;
const CHUNK_FILES = 1_000;
/** Of one object in the answer of `cat-file --batch`: name, kind, size and line ends. */
const FRAME_BYTES = 128;
const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/**
 * Writes the files of a commit as they are in it: no filter, no attribute and no hook of the repository has a say, and
 * every file is on the disk when this returns. Submodules stay empty and Git LFS files stay pointers, both with a notice.
 * @throws JackinError `ROLE_INVALID`, `ROLE_UNAVAILABLE`, `DISK_FULL`, `STATE_NOT_WRITABLE`
 */
export async function exportTree(input: ExportInput): Promise<void> {
  const { target, repository, events } = input;
  const listed = await git(input, ['ls-tree', '-r', '-z', '-l', '--full-tree', input.commit]);
  const { files, submodules } = parseTree(repository, listed);
  const notice = (code: string, message: string) => events({ type: 'notice', level: 'warn', code, message });
  for (const path of submodules) {
    notice('ROLE_SUBMODULE', `${path} of ${repository} is a submodule; it is not fetched and stays empty.`);
  }
  const made = new Set([dirname(target)]);
  const make = (path: string) => makeDirectory(path, made);
  await make(target);
  for (const path of submodules) await make(join(target, path));
  const pointers: string[] = [];
  for (const chunk of chunksOf(files)) {
    const contents = await readObjects(input, chunk);
    for (const [at, file] of chunk.entries()) {
      const content = contents[at] as Buffer;
      await make(dirname(join(target, file.path)));
      await write(input, file, content);
      if (content.subarray(0, LFS_POINTER.length).toString('latin1') === LFS_POINTER)
        pointers.push(file.path);
    }
  }
  if (pointers.length > 0) {
    notice(
      'ROLE_LFS',
      `${pointers.join(', ')} of ${repository}: kept by Git LFS, which is not asked; the pointers are there instead.`,
    );
  }
  for (const directory of [...made].reverse()) await syncDirectory(directory);
}

async function write({ target, repository }: ExportInput, file: TreeFile, content: Buffer): Promise<void> {
  const path = join(target, file.path);
  try {
    if (file.kind === 'link') {
      const to = content.toString('utf8');
      if (!staysInside(file.path, to) || !Buffer.from(to).equals(content)) {
        throw roleInvalid(
          repository,
          { key: file.path, reason: `is a symbolic link out of the role, to ${JSON.stringify(to)}` },
          'Take it out of the repository.',
        );
      }
      await symlink(to, path);
      return;
    }
    const mode = file.kind === 'program' ? 0o755 : 0o644;
    // wx: two names that are one on this file system must not become one file.
    const handle = await open(path, 'wx', mode);
    try {
      // Whatever the umask: the hash of a role covers its modes.
      await handle.chmod(mode);
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw fileSystemError(error, path, 'write');
  }
}

async function makeDirectory(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await makeDirectory(dirname(path), made);
  try {
    await mkdir(path);
    await chmod(path, 0o755);
  } catch (error) {
    throw fileSystemError(error, path, 'create');
  }
  made.add(path);
}

async function readObjects(input: ExportInput, files: readonly TreeFile[]): Promise<Buffer[]> {
  const bytes = files.reduce((sum, file) => sum + file.bytes + FRAME_BYTES, 0);
  const output = await git(input, ['cat-file', '--batch'], {
    input: Buffer.from(files.map(({ object }) => `${object}\n`).join('')),
    maxOutputBytes: bytes,
  });
  const contents: Buffer[] = [];
  let at = 0;
  for (const { object, bytes: size } of files) {
    const header = `${object} blob ${size}\n`;
    const start = at + header.length;
    const end = start + size;
    if (output.subarray(at, start).toString('latin1') !== header || output.length <= end) {
      throw unreadable(input, `git answered something else for ${object}`);
    }
    contents.push(output.subarray(start, end));
    at = end + 1;
  }
  return contents;
}

async function git(
  input: ExportInput,
  args: string[],
  options: { input?: Buffer; maxOutputBytes?: number } = {},
): Promise<Buffer> {
  const { gitDir, signal, env } = input;
  const result = await hardenedGit(args, { gitDir, signal, env, timeoutMs: CALL_MS, ...options });
  if (!succeeded(result)) throw unreadable(input, gitWords(result));
  return result.stdout;
}

function unreadable({ repository, commit }: ExportInput, reason: string): JackinError {
  return new JackinError({
    code: 'ROLE_UNAVAILABLE',
    message: `The commit ${commit.slice(0, 7)} of ${repository} cannot be read: ${reason}.`,
    hint: 'Run the same command again.',
    details: { git: repository, commit },
  });
}

function* chunksOf(files: readonly TreeFile[]): Generator<TreeFile[]> {
  let chunk: TreeFile[] = [];
  let bytes = 0;
  for (const file of files) {
    if (chunk.length > 0 && (bytes + file.bytes > CHUNK_BYTES || chunk.length === CHUNK_FILES)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(file);
    bytes += file.bytes;
  }
  if (chunk.length > 0) yield chunk;
}
