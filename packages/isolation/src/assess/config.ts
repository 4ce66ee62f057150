import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { PathView } from '../types.ts';
import { Doubt } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';
import { meanings, type Repository } from './git-directory.ts';
import { printable, text } from './names.ts';
import { canonical, readRegular } from './read.ts';

/** The values of one key, in order; the last one counts. Keys are lower case but for the middle part. */
export type Settings = ReadonlyMap<string, readonly string[]>;

export interface RepositoryConfig {
  settings: Settings;
  objectFormat: 'sha1' | 'sha256';
  /** Lines for the shadow's own configuration: what tells how files are compared, and nothing else. */
  honoured: string[];
}

/** Tell how the files of this tree are read; all others are never seen by git. */
const HONOURED = ['filemode', 'ignorecase', 'symlinks', 'precomposeunicode'] as const;
const HONOURED_WORDS: Record<string, readonly string[]> = {
  autocrlf: ['true', 'false', 'input'],
  eol: ['lf', 'crlf', 'native'],
};
const KNOWN_EXTENSIONS = new Set([
  'noop',
  'noop-v1',
  'preciousobjects',
  'partialclone',
  'worktreeconfig',
  'objectformat',
  'refstorage',
  'relativeworktrees',
]);
/** What `git lfs install --local` writes: the operator's own git-lfs, not a program of the repository. */
const LFS: Record<string, readonly string[]> = {
  clean: ['git-lfs clean -- %f'],
  smudge: ['git-lfs smudge -- %f', 'git-lfs smudge --skip -- %f'],
  process: ['git-lfs filter-process', 'git-lfs filter-process --skip'],
};

/**
 * The repository's configuration as values, parsed by git from standard input, so that nothing in it takes effect.
 * @throws Doubt when it cannot be read, can run programs, or says that git would look elsewhere or otherwise
 */
export async function readConfig(
  repository: Repository,
  git: GitCalls,
  options: { views: readonly PathView[]; maxBytes: number },
): Promise<RepositoryConfig> {
  const { gitDir, commonDir } = repository;
  const common = readRegular(join(commonDir, 'config'), options.maxBytes)?.bytes ?? Buffer.alloc(0);
  const own = readRegular(join(gitDir, 'config.worktree'), options.maxBytes)?.bytes ?? null;
  const nonce = randomBytes(16).toString('hex');
  const mark = (part: string) => Buffer.from(`\n\n[jackin "${nonce}"]\n\t${part} = end\n`);
  const input = Buffer.concat([common, mark('common'), own ?? Buffer.alloc(0), mark('worktree')]);
  const output = await git.run('git config', ['config', '-f', '-', '--no-includes', '-z', '--list'], {
    input,
  });
  const [first, second] = split(output, nonce);
  const perWorktree = isTrue(last(first, 'extensions.worktreeconfig'));
  const settings = perWorktree ? merge(first, second) : first;
  refusePrograms(settings);
  const objectFormat = refuseFormats(settings);
  refuseRedirection(repository, perWorktree ? second : new Map(), first, options.views);
  return { settings, objectFormat, honoured: honouredLines(settings) };
}

export function last(settings: Settings, key: string): string | null {
  return settings.get(key)?.at(-1) ?? null;
}

/** As git reads a boolean; a key without a value is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && !/^(|false|no|off|0)$/i.test(value);
}

/** Two parts, each ended by our mark; without both marks git did not parse all of it. */
function split(output: Buffer, nonce: string): [Settings, Settings] {
  const parts: Map<string, string[]>[] = [new Map(), new Map()];
  let part = 0;
  const records = output.toString('latin1').split('\0');
  if (records.pop() !== '') throw new Doubt('git config answered something else');
  for (const record of records) {
    const at = record.indexOf('\n');
    const key = at < 0 ? record : record.slice(0, at);
    if (key.startsWith(`jackin.${nonce}.`)) {
      if (key !== `jackin.${nonce}.${part === 0 ? 'common' : 'worktree'}`) break;
      part += 1;
      continue;
    }
    const values = parts[part];
    if (values === undefined) break;
    values.set(key, [...(values.get(key) ?? []), at < 0 ? 'true' : record.slice(at + 1)]);
  }
  const [first, second] = parts;
  if (part !== 2 || first === undefined || second === undefined || !records.at(-1)?.includes(nonce)) {
    throw new Doubt('git config did not read all of the repository configuration');
  }
  return [first, second];
}

function merge(first: Settings, second: Settings): Settings {
  const all = new Map(first);
  for (const [key, values] of second) all.set(key, [...(all.get(key) ?? []), ...values]);
  return all;
}

function refusePrograms(settings: Settings): void {
  for (const [key, values] of settings) {
    const driver = /^filter\.(.*)\.(clean|smudge|process)$/s.exec(key);
    if (driver === null || values.every((value) => value === '')) continue;
    const [, name = '', what = ''] = driver;
    if (name === 'lfs' && values.every((value) => LFS[what]?.includes(value))) continue;
    throw new Doubt(`repository configuration can run programs (${printable(text(key))})`);
  }
}

function refuseFormats(settings: Settings): RepositoryConfig['objectFormat'] {
  const version = last(settings, 'core.repositoryformatversion') ?? '0';
  if (!/^[01]$/.test(version)) throw new Doubt(`the repository has the unknown format ${printable(version)}`);
  for (const key of settings.keys()) {
    const extension = /^extensions\.(.*)$/s.exec(key)?.[1];
    if (extension === undefined || version === '0' || KNOWN_EXTENSIONS.has(extension)) continue;
    throw new Doubt(`the repository uses the unknown extension ${printable(text(extension))}`);
  }
  const storage = last(settings, 'extensions.refstorage') ?? 'files';
  if (storage !== 'files') throw new Doubt(`the repository stores its refs as ${printable(storage)}`);
  const format = last(settings, 'extensions.objectformat') ?? 'sha1';
  if (format === 'sha1' || format === 'sha256') return format;
  throw new Doubt(`the repository has objects of the unknown format ${printable(format)}`);
}

/** `core.worktree` names this tree or nothing; for a linked worktree only its own configuration counts. */
function refuseRedirection(
  { tree, gitDir, commonDir, needsWorktreeSetting }: Repository,
  own: Settings,
  common: Settings,
  views: readonly PathView[],
): void {
  const value = last(own, 'core.worktree') ?? (gitDir === commonDir ? last(common, 'core.worktree') : null);
  if (value === null) {
    if (needsWorktreeSetting) throw new Doubt('.git leads outside: its repository does not point back');
    return;
  }
  if (tree === null) return;
  const places = meanings(text(value), gitDir, views).map((place) => canonical(place));
  if (!places.includes(tree)) throw new Doubt(`core.worktree leads outside: ${printable(text(value))}`);
}

function honouredLines(settings: Settings): string[] {
  const flags = HONOURED.flatMap((key) => {
    const value = last(settings, `core.${key}`);
    return value === null ? [] : [`${key} = ${isTrue(value)}`];
  });
  const words = Object.entries(HONOURED_WORDS).flatMap(([key, allowed]) => {
    const value = last(settings, `core.${key}`)?.toLowerCase();
    if (value === undefined) return [];
    const plain = key === 'autocrlf' && value !== 'input' ? String(isTrue(value)) : value;
    return allowed.includes(plain) ? [`${key} = ${plain}`] : [];
  });
  return ['[core]', ...flags, ...words, ...lfsLines(settings)];
}

function lfsLines(settings: Settings): string[] {
  const lines = Object.keys(LFS).flatMap((what) => {
    const value = last(settings, `filter.lfs.${what}`);
    return value === null || value === '' ? [] : [`${what} = ${value}`];
  });
  if (lines.length === 0) return [];
  return ['[filter "lfs"]', ...lines, `required = ${isTrue(last(settings, 'filter.lfs.required'))}`];
}
