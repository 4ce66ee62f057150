import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hardenedGit } from '@jackin/core';
import { type Assessment, assess, snapshotRefs } from '@jackin/isolation';
import { median } from './report.ts';

const USAGE = `npm run bench:assess [-- --rounds N] [-- --files N] [-- --branches N] [-- --worktrees N]

How long it takes to tell what a worktree holds, against one "git status" and one "git for-each-ref" in the same tree,
in turns. Builds the repository once and removes it afterwards. Exits with 1 above a ratio of 1.5 or 8 git processes.

  --rounds N      how often each is measured (default 15)
  --files N       files in the repository (default 50000)
  --branches N    branches of the repository (default 1000)
  --worktrees N   linked worktrees of the repository (default 200)
`;
const MAX_RATIO = 1.5;
const MAX_PROCESSES = 8;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '15' },
      files: { type: 'string', default: '50000' },
      branches: { type: 'string', default: '1000' },
      worktrees: { type: 'string', default: '200' },
      help: { type: 'boolean' },
    },
  });
  const [rounds, files, branches, worktrees] = [
    values.rounds,
    values.files,
    values.branches,
    values.worktrees,
  ].map(Number) as [number, number, number, number];
  const valid = [rounds, files, branches, worktrees].every(
    (number) => Number.isInteger(number) && number >= 1,
  );
  if (values.help || !valid) {
    (values.help ? process.stdout : process.stderr).write(USAGE);
    return values.help ? 0 : 2;
  }
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jackin-bench-')));
  try {
    const tree = build(dir, { files, branches, worktrees });
    process.stderr.write('built\n');
    return await measure(tree, join(dir, 'repo/.git'), { rounds, files, branches, worktrees });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Size {
  files: number;
  branches: number;
  worktrees: number;
}

/** A repository with a remote; answers one of its worktrees, in which all is pushed. */
function build(dir: string, { files, branches, worktrees }: Size): string {
  const [remote, repo, tree] = [join(dir, 'remote.git'), join(dir, 'repo'), join(dir, 'tree')];
  git(dir, 'init', '-q', '--bare', remote);
  git(dir, 'init', '-q', '-b', 'main', repo);
  git(repo, 'remote', 'add', 'origin', remote);
  for (let file = 0; file < files; file += 1) {
    const place = join(repo, `d${Math.floor(file / 2_000)}`, `s${Math.floor(file / 100)}`);
    if (file % 100 === 0) mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file${file}.txt`), `content of ${file}\n`);
  }
  git(repo, 'add', '-A');
  git(repo, 'commit', '-qm', 'base');
  git(repo, 'push', '-q', 'origin', 'main');
  const head = git(repo, 'rev-parse', 'HEAD');
  mkdirSync(join(repo, '.git/refs/heads/topic'));
  for (let branch = 0; branch < branches; branch += 1) {
    writeFileSync(join(repo, '.git/refs/heads/topic', `${branch}`), `${head}\n`);
  }
  for (let worktree = 1; worktree < worktrees; worktree += 1) {
    git(repo, 'worktree', 'add', '-q', '--no-checkout', '-b', `w${worktree}`, join(dir, `w${worktree}`));
  }
  git(repo, 'worktree', 'add', '-q', '-b', 'session', tree);
  return tree;
}

async function measure(tree: string, commonDir: string, size: Size & { rounds: number }): Promise<number> {
  const gitDir = readFileSync(join(tree, '.git'), 'utf8').slice('gitdir: '.length).trim();
  const refsAtLaunch = await snapshotRefs(tree);
  const ours: number[] = [];
  const plain: number[] = [];
  let found: Assessment | null = null;
  const timeoutMs = 60_000;
  // The first round warms up and does not count.
  for (let round = 0; round <= size.rounds; round += 1) {
    const startedMs = performance.now();
    await hardenedGit(['status'], { gitDir, workTree: tree, timeoutMs });
    await hardenedGit(['for-each-ref'], { gitDir, timeoutMs });
    const betweenMs = performance.now();
    found = await assess(tree, {
      refsAtLaunch,
      expected: { kind: 'worktree', commonDir, scratchBranch: 'session' },
    });
    if (round > 0) {
      plain.push(betweenMs - startedMs);
      ours.push(performance.now() - betweenMs);
    }
  }
  const ratio = median(ours) / median(plain);
  const processes = found?.git_processes ?? 0;
  const load = loadavg()[0]?.toFixed(1);
  process.stdout.write(
    [
      `${size.files} files, ${size.branches} branches, ${size.worktrees} worktrees; medians of ${size.rounds} rounds`,
      `${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores with a load of ${load}`,
      `git status + git for-each-ref: ${Math.round(median(plain))} ms`,
      `assess: ${Math.round(median(ours))} ms (${found?.verdict}), ${processes} git processes`,
      `ratio: ${ratio.toFixed(2)}`,
      '',
    ].join('\n'),
  );
  return ratio <= MAX_RATIO && processes <= MAX_PROCESSES && found?.verdict === 'clean' ? 0 : 1;
}

function git(cwd: string, ...args: string[]): string {
  const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8' }).trim();
}
