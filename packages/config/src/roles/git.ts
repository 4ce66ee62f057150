import { devNull } from 'node:os';
import { JackinError, type RunResult, runProcess } from '@jackin/core';

export interface GitOptions {
  /** The repository; never the one of the current directory, which an agent may have written. */
  gitDir: string;
  timeoutMs: number;
  input?: Uint8Array;
  maxOutputBytes?: number;
  signal?: AbortSignal | undefined;
  /** Default: the one of this process. */
  env?: NodeJS.ProcessEnv | undefined;
}

/** What a repository's own configuration could otherwise make git run or follow. */
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
 * Runs git so that nothing asks, nothing of the repository runs, and nothing is inherited that redirects it
 * (docs/roles.md#repositories). The operator's global configuration stays trusted: credential helpers and proxies are
 * there. A child's failure comes back as a value.
 * @throws JackinError `GIT_MISSING`; the signal's reason when aborted
 */
export async function hardenedGit(args: string[], options: GitOptions): Promise<RunResult> {
  const env = options.env ?? process.env;
  const result = await runProcess(
    'git',
    [...HARDENED.flatMap((setting) => ['-c', setting]), `--git-dir=${options.gitDir}`, ...args],
    {
      cwd: '/',
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
    message: 'There is no git on this machine, and roles from repositories need it.',
    hint: 'Install git, or name a directory in config.toml: [roles.<key>] path = "/absolute/path".',
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
