import { spawnSync } from 'node:child_process';
import { devNull } from 'node:os';

/** What a git left. `out` holds bytes: one character each, so that no name is damaged. */
export interface GitAnswer {
  ok: boolean;
  out: string;
  error: string;
}

/** Git as a person calls it in a directory, without the configuration of whoever runs this. */
export type PlainGit = (
  dir: string,
  args: readonly string[],
  options?: { input?: string | Buffer },
) => GitAnswer;

/** One git, at a time in seconds since 1970, with all of its environment. */
export interface GitCall {
  dir: string;
  args: readonly string[];
  input: string | Buffer;
  seconds: number;
}

/** Runs one git to its end. */
export type RunGit = (call: GitCall) => GitAnswer;

const SETTINGS: Record<string, string> = {
  'init.defaultBranch': 'main',
  // Without examples of hooks, which would only be copied and compared.
  'init.templateDir': '',
  'protocol.file.allow': 'always',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'commit.gpgSign': 'false',
  'core.autocrlf': 'false',
  'core.quotePath': 'true',
  // Nothing here has to survive a power cut.
  'core.fsync': 'none',
  'merge.conflictStyle': 'merge',
};

/**
 * A git whose clock ticks with every call, so that the same calls make the same commits.
 * @param start seconds since 1970 before the first call
 */
export function plainGit(run: RunGit = ownProcess, start = 1_700_000_000): PlainGit {
  let seconds = start;
  return (dir, args, { input = '' } = {}) => {
    seconds += 1;
    return run({ dir, args, input, seconds });
  };
}

/** Everything a git is told but the time. */
export function gitEnvironment(): Record<string, string | undefined> {
  return {
    PATH: process.env.PATH,
    HOME: devNull,
    LC_ALL: 'C',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_AUTHOR_NAME: 'A U Thor',
    GIT_AUTHOR_EMAIL: 'author@example.com',
    GIT_COMMITTER_NAME: 'C O Mitter',
    GIT_COMMITTER_EMAIL: 'committer@example.com',
    ...settingsInEnv(),
  };
}

/** A git as a child of this process. */
export const ownProcess: RunGit = ({ dir, args, input, seconds }) => {
  const date = `${seconds} +0000`;
  const result = spawnSync('git', args, {
    cwd: dir,
    timeout: 60_000,
    maxBuffer: 64 << 20,
    input,
    env: { ...gitEnvironment(), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  });
  if (result.error !== undefined) throw result.error;
  return {
    ok: result.status === 0,
    out: result.stdout.toString('latin1'),
    error: result.stderr.toString('utf8'),
  };
};

/** The answer of a git that may not fail. */
export function mustSucceed(
  git: PlainGit,
  dir: string,
  args: readonly string[],
  input?: string | Buffer,
): string {
  const answer = git(dir, args, input === undefined ? {} : { input });
  if (answer.ok) return answer.out;
  throw new Error(`git ${args.join(' ')} in ${dir}: ${answer.error}`);
}

/** Lines of an answer, without the empty one at its end. */
export function lines(out: string): string[] {
  return out.split('\n').filter((line) => line !== '');
}

function settingsInEnv(): Record<string, string> {
  const settings = Object.entries(SETTINGS);
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}
