import { devNull } from 'node:os';
import { JackinError } from './errors.ts';
import { type RunResult, runProcess } from './run.ts';

export interface GitOptions {
  /** The repository; never the one of the current directory, which an agent may have written. */
  gitDir: string;
  /** Where its files are, for commands that look at them. */
  workTree?: string | undefined;
  /** Where git runs and relative paths start; default `/`. */
  cwd?: string | undefined;
  timeoutMs: number;
  input?: Uint8Array;
  maxOutputBytes?: number;
  signal?: AbortSignal | undefined;
  /** Default: the one of this process. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Settings on top of the hardened ones, as `key=value`. */
  settings?: readonly string[] | undefined;
  /** Repositories of other users that may be used all the same: exactly these paths. */
  trusted?: readonly string[] | undefined;
}

/**
 * What a repository's own configuration could otherwise make git run or follow. Drivers have names of the repository's
 * choice: whoever reads a tree an agent wrote must not let git see its configuration at all (docs/isolation.md).
 */
const HARDENED = [
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'protocol.allow=never',
  'protocol.https.allow=always',
  'protocol.ssh.allow=always',
  'protocol.file.allow=always',
  'protocol.ext.allow=never',
  'fetch.recurseSubmodules=false',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // A connection that stands still ends before the whole call does.
  'http.lowSpeedLimit=1000',
  'http.lowSpeedTime=30',
];

/**
 * The one way this program runs git: nothing asks, no hook or monitor of the repository runs, and nothing is inherited
 * that redirects it (docs/isolation.md#git-on-the-host). The operator's global configuration stays trusted: credential helpers and proxies are
 * there. A child's failure comes back as a value.
 * @throws JackinError `GIT_MISSING`; the signal's reason when aborted
 */
export async function hardenedGit(args: readonly string[], options: GitOptions): Promise<RunResult> {
  const env = options.env ?? process.env;
  const { gitDir, workTree, settings = [], trusted = [] } = options;
  const all = [...HARDENED, ...trusted.map((path) => `safe.directory=${path}`), ...settings];
  const result = await runProcess(
    'git',
    [
      ...all.flatMap((setting) => ['-c', setting]),
      `--git-dir=${gitDir}`,
      ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
      ...args,
    ],
    {
      cwd: options.cwd ?? '/',
      timeoutMs: options.timeoutMs,
      env: quietEnv(env),
      inheritEnv: false,
      ...(options.input === undefined ? {} : { input: options.input }),
      ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
  );
  options.signal?.throwIfAborted();
  if (!result.notFound) return result;
  throw new JackinError({
    code: 'GIT_MISSING',
    message: 'There is no git on this machine; roles from repositories, worktrees and clones need it.',
    hint: 'Install git, or do without it: [roles.<key>] path = "/absolute/path" in config.toml, and shared mounts.',
  });
}

/** Whether git itself is content. */
export function succeeded({ exitCode, truncated, failure }: RunResult): boolean {
  return exitCode === 0 && !truncated && failure === null;
}

/** Why it is not, in git's own words where it has any, on one line and without control characters. */
export function gitWords(result: RunResult): string {
  if (result.timedOut) return 'git did not finish in time';
  if (result.truncated) return 'git wrote more than it may';
  if (result.failure !== null) return result.failure;
  const lines = result.stderr
    .toString('utf8')
    .replace(/[^\P{Cc}\n]/gu, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const told = lines.filter((line) => /^(fatal|error|ssh|remote: (error|fatal)|.*denied)/i.test(line));
  const words = (told.length > 0 ? told : lines.slice(-2)).join('; ').slice(0, 400);
  if (words !== '') return words;
  return result.signal === null ? `git ended with ${result.exitCode}` : `git was ended by ${result.signal}`;
}

/** ssh is git's own child and asks on the terminal unless it is told not to; a command the operator configured stays. */
export function sshWithoutQuestions(configured: string | null): string {
  return `${configured ?? 'ssh'} -o BatchMode=yes -o ConnectTimeout=20`;
}

function quietEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(GIT_|SSH_ASKPASS)/.test(entry[0]),
  );
  return {
    ...Object.fromEntries(inherited),
    GIT_TERMINAL_PROMPT: '0',
    // Empty: no program is asked either.
    GIT_ASKPASS: '',
    SSH_ASKPASS_REQUIRE: 'never',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_NO_REPLACE_OBJECTS: '1',
    LC_ALL: 'C',
  };
}
