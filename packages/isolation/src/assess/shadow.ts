import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { RepositoryConfig } from './config.ts';
import type { Repository } from './git-directory.ts';
import { countedEntries } from './index-file.ts';
import { ownPrefix, removeLeftBehind } from './left-behind.ts';
import type { AssessLimits } from './limits.ts';
import { list, readBelow, readRegular } from './read.ts';

/**
 * A git directory of our own that git is run on instead of the tree's: the index is a copy, the configuration is ours,
 * the objects are read where they are. Nothing an agent wrote tells git what to run or where to look.
 */
export interface Shadow {
  dir: string;
  remove(): void;
}

/** What others left is looked for once. */
let swept = false;

/** An empty one, enough for a process that needs no repository. */
export function makeShadow(): Shadow {
  if (!swept) removeLeftBehind();
  swept = true;
  const dir = mkdtempSync(join(tmpdir(), ownPrefix()));
  for (const part of ['objects/info', 'refs', 'info']) mkdirSync(join(dir, part), { recursive: true });
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/jackin\n');
  writeFileSync(join(dir, 'config'), '[core]\n\trepositoryformatversion = 0\n');
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Fills it from what was read; answers the index, null without one. @throws Doubt for files that are not plain ones or too large */
export function fillShadow(
  { dir }: Shadow,
  repository: Repository,
  options: {
    config: RepositoryConfig;
    head: string | null;
    objects: string;
    /** Commit ids by refs of the shadow. */
    refs: readonly string[];
    limits: AssessLimits;
  },
): Buffer | null {
  const { config, head, objects, refs, limits } = options;
  const { gitDir, commonDir } = repository;
  writeFileSync(join(dir, 'config'), configText(config));
  writeFileSync(join(dir, 'HEAD'), head === null ? 'ref: refs/heads/jackin\n' : `${head}\n`);
  writeFileSync(join(dir, 'objects/info/alternates'), `${quoted(objects)}\n`);
  writeFileSync(
    join(dir, 'packed-refs'),
    refs.map((id, at) => `${id} refs/jackin/${String(at).padStart(7, '0')}\n`).join(''),
  );
  const copy = (from: string, name: string) => {
    const read = readBelow(from, name, limits.fileBytes);
    if (read !== null) writeFileSync(join(dir, name), read.bytes);
  };
  for (const name of ['shallow', 'info/exclude', 'info/attributes']) copy(commonDir, name);
  if (repository.tree === null) return null;
  copy(gitDir, 'info/sparse-checkout');
  return copyIndex(dir, gitDir, limits);
}

/** Puts a commit of our own into the shadow and answers its id: what git has to come back with. */
export function plantCommit(
  { dir }: Shadow,
  format: RepositoryConfig['objectFormat'],
  words: string,
): string {
  const tree = createHash(format).update('tree 0\0').digest('hex');
  const who = 'jackin <jackin@localhost> 0 +0000';
  const body = Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${words}\n`);
  const whole = Buffer.concat([Buffer.from(`commit ${body.length}\0`), body]);
  const id = createHash(format).update(whole).digest('hex');
  mkdirSync(join(dir, 'objects', id.slice(0, 2)), { recursive: true });
  writeFileSync(join(dir, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(whole));
  return id;
}

function copyIndex(dir: string, gitDir: string, limits: AssessLimits): Buffer | null {
  const index = readRegular(join(gitDir, 'index'), limits.indexBytes);
  if (index === null) return null;
  const { bytes, mtimeS } = index;
  countedEntries(bytes);
  const target = join(dir, 'index');
  writeFileSync(target, bytes);
  // Git looks into files that are not older than the index. One that seems older than it is makes it look into more.
  utimesSync(target, Math.max(1, mtimeS), Math.max(1, mtimeS));
  // Parts of a split one; old ones stay for weeks.
  for (const { name } of list(gitDir) ?? []) {
    const part = /^sharedindex\.[0-9a-f]+$/.test(name)
      ? readRegular(join(gitDir, name), limits.indexBytes)
      : null;
    if (part !== null) writeFileSync(join(dir, name), part.bytes);
  }
  return bytes;
}

function configText({ objectFormat, honoured }: RepositoryConfig): string {
  const lines = [
    '[core]',
    `repositoryformatversion = ${objectFormat === 'sha1' ? 0 : 1}`,
    'bare = false',
    'filemode = true',
    'trustctime = true',
    'checkstat = default',
    'ignorestat = false',
    'preloadindex = true',
    // What is there is looked at, whatever the index says about it.
    'sparsecheckout = true',
    // Shortcuts that repeat what the objects say, and may be wrong.
    'commitgraph = false',
    'multipackindex = false',
    'usereplacerefs = false',
    '[sparse]',
    'expectfilesoutsideofpatterns = false',
    ...(objectFormat === 'sha1' ? [] : ['[extensions]', `objectformat = ${objectFormat}`]),
    ...honoured,
  ];
  return `${lines.join('\n')}\n`;
}

function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}
