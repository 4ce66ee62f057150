import { roleInvalid } from './errors.ts';

export interface TreeFile {
  path: string;
  kind: 'file' | 'program' | 'link';
  object: string;
  bytes: number;
}

export interface TreeList {
  files: TreeFile[];
  /** Directories that are other repositories: they stay empty. */
  submodules: string[];
}

const MAX_FILES = 50_000;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_LINK_BYTES = 4096;

/**
 * The files of a commit from `git ls-tree -r -z -l --full-tree`. Names are checked as if somebody meant harm: none may
 * leave the directory it is written into, or be git's own.
 * @param repository for the message
 * @throws JackinError `ROLE_INVALID`
 */
export function parseTree(repository: string, output: Buffer): TreeList {
  const refuse = (path: string, reason: string) =>
    roleInvalid(repository, { key: path, reason }, 'Correct it in the repository.');
  const list: TreeList = { files: [], submodules: [] };
  let bytes = 0;
  for (const entry of recordsOf(output)) {
    const tab = entry.indexOf(0x09);
    const [mode = '', , object = '', size = ''] = entry.subarray(0, tab).toString('latin1').split(/ +/);
    const name = entry.subarray(tab + 1);
    const path = name.toString('utf8');
    if (!Buffer.from(path).equals(name)) throw refuse(path, 'its name is not valid UTF-8');
    if (!isInside(path)) throw refuse(path, 'is not the name of a file inside a role');
    if (mode === '160000') {
      list.submodules.push(path);
      continue;
    }
    const kind = KINDS[mode];
    if (kind === undefined) throw refuse(path, `has the unknown mode ${mode}`);
    if (kind === 'link' && Number(size) > MAX_LINK_BYTES)
      throw refuse(path, 'is a link with too long a target');
    list.files.push({ path, kind, object, bytes: Number(size) });
    bytes += Number(size);
    if (list.files.length > MAX_FILES) throw refuse('', `holds more than ${MAX_FILES} files`);
    if (bytes > MAX_BYTES) throw refuse('', `holds more than ${MAX_BYTES / 1024 / 1024} MiB`);
  }
  return list;
}

/**
 * Whether a link stays inside the role wherever the role lies. Only leading `..` are allowed: one behind a name could
 * follow another link first.
 */
export function staysInside(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const up = parts.findIndex((part) => part !== '..');
  const leading = up === -1 ? parts.length : up;
  return leading <= path.split('/').length - 1 && !parts.slice(leading).includes('..');
}

const KINDS: Record<string, TreeFile['kind']> = {
  '100644': 'file',
  '100664': 'file',
  '100755': 'program',
  '120000': 'link',
};

function* recordsOf(output: Buffer): Generator<Buffer> {
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at);
    if (end === -1) return;
    yield output.subarray(at, end);
    at = end + 1;
  }
}

function isInside(path: string): boolean {
  return path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git');
}
