import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { childOf, entries, under } from '../files.ts';
import { agent, CONFLICT_FILE, SHARED_FILE, SUBMODULE, type World } from '../world.ts';
import { step } from './step.ts';

/** Names that have broken somebody's parser before; in bytes. */
const ODD_NAMES = [
  'with space.txt',
  'two\nlines.txt',
  'quo"te\'s.txt',
  'back\\slash.txt',
  '-n',
  ' leading',
  'tab\there',
  'a -> b',
  ':(top)magic',
  'st*r[x]?.txt',
  bytesOf('ä b.txt'),
  bytesOf('名前.txt'),
  '\xff\xfe.txt',
  'broken-\xc3.txt',
  '"quoted"',
  'trailing ',
];

export const fileSteps = [
  step('edit', 8, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    write(world, path, `edited ${world.random.word()}\n`);
  }),
  step('edit at the top of the shared file', 4, editShared),
  step('new file', 7, newFile),
  step('new file with an odd name', 6, (world) => {
    const { random } = world;
    const name = `${random.pick(ODD_NAMES)}${random.chance(0.5) ? '' : random.word()}`;
    write(world, random.chance(0.3) ? `odd/${name}` : name, `odd ${random.word()}\n`);
  }),
  step('delete a file', 3, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    rmSync(inTree(world, path));
  }),
  step('rename a file', 3, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    renameSync(inTree(world, path), inTree(world, `${world.random.word()} -> moved`));
  }),
  step('change the mode of a file', 3, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    chmodSync(inTree(world, path), statSync(inTree(world, path)).mode ^ 0o111);
  }),
  step('replace a file by a link', 1, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    rmSync(inTree(world, path));
    symlinkSync(world.random.pick(['nowhere', '/etc/hostname', '.gitignore']), inTree(world, path));
  }),
  step('replace a file by a directory', 1, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    rmSync(inTree(world, path));
    write(world, `${path}/inside`, `inside ${world.random.word()}\n`);
  }),
  step('edit without a trace in size and time', 2, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    const { atime, mtime, size } = statSync(inTree(world, path));
    if (size < 4) return false;
    writeFileSync(inTree(world, path), world.random.word().padEnd(size, '.').slice(0, size));
    utimesSync(inTree(world, path), atime, mtime);
  }),
  step('write a file again as it was', 1, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    writeFileSync(inTree(world, path), readFileSync(inTree(world, path)));
  }),
  step('ignored files', 5, (world) => {
    const { random } = world;
    const name = random.pick([
      'build.log',
      '.env',
      'scratch/note',
      'node_modules/a/index.js',
      'target/x.o',
      'src/y.log',
    ]);
    write(world, name, `ignored ${random.word()}\n`);
  }),
  step('ignore more in info/exclude', 1, (world) => {
    const ignored = '.local';
    mkdirSync(`${world.tree.commonDir}/info`, { recursive: true });
    writeFileSync(`${world.tree.commonDir}/info/exclude`, `*${ignored}\n`);
    world.truth.ignoredSuffixes.add(ignored);
    write(world, `notes${ignored}`, `noted ${world.random.word()}\n`);
  }),
  step('an empty directory', 1, (world) => {
    mkdirSync(inTree(world, `empty-${world.random.word()}`));
  }),
];

export function newFile(world: World): undefined {
  const { random } = world;
  const dir = random.pick(['', 'src/', 'docs/', `${random.word()}/`]);
  write(world, `${dir}new-${random.word()}.txt`, `new ${random.word()}\n`);
}

export function editShared(world: World): boolean | undefined {
  const path = inTree(world, SHARED_FILE);
  if (!isFile(path)) return false;
  writeFileSync(path, `top ${world.random.word()}\n${readFileSync(path, 'utf8')}`);
}

/** A file of the tree whose path is in bytes. */
export function inTree(world: World, path: string): Buffer {
  return under(world.tree.path, path);
}

/** Writes a file and its directories; does nothing where a file is in the way of a directory. */
export function write(world: World, path: string, content: string): void {
  const slash = path.lastIndexOf('/');
  try {
    if (slash > 0) mkdirSync(inTree(world, path.slice(0, slash)), { recursive: true });
    writeFileSync(inTree(world, path), content);
  } catch (error) {
    if (!['EEXIST', 'ENOTDIR', 'EISDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
  }
}

/** A file of the agent's own repository that is not ignored, and not the one meant for conflicts. */
export function someFile(world: World): string | null {
  const found: string[] = [];
  const { ignoredDirectories, ignoredSuffixes } = world.truth;
  const walk = (parent: string): void => {
    for (const { name, entry } of entries(world.tree.path, parent)) {
      const path = childOf(parent, name);
      if (entry.isDirectory()) {
        const another = entries(world.tree.path, path).some(
          (child) => child.name === '.git' || child.name === 'HEAD',
        );
        if (name !== '.git' && path !== SUBMODULE && !another && !ignoredDirectories.has(name)) walk(path);
      } else if (
        entry.isFile() &&
        ![CONFLICT_FILE, '.gitignore', '.gitmodules', '.git'].includes(path) &&
        ![...ignoredSuffixes].some((suffix) => name.endsWith(suffix))
      ) {
        found.push(path);
      }
    }
  };
  walk('');
  return found.length === 0 ? null : world.random.pick(found.sort());
}

/** Stages everything as it is. */
export function addAll(world: World): boolean {
  return agent(world, ['add', '--all']).ok;
}

export function isFile(path: Buffer | string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
