import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { type GitCall, gitEnvironment, ownProcess, type RunGit } from './plain-git.ts';

/**
 * Reads a call as lines (time, number of arguments, input, directory, arguments), runs it, and says how it ended. A
 * word is never read as shell text. It ends with whoever sends the calls.
 */
const SCRIPT = `
exec <"$1" >"$2"
out=$3 err=$4
echo ready
while IFS= read -r date && IFS= read -r count && IFS= read -r input && IFS= read -r dir; do
  set --
  while [ "$count" -gt 0 ]; do
    IFS= read -r word
    set -- "$@" "$word"
    count=$((count - 1))
  done
  (
    cd "$dir" || exit 127
    export GIT_AUTHOR_DATE="$date" GIT_COMMITTER_DATE="$date"
    exec git "$@"
  ) <"$input" >"$out" 2>"$err"
  echo $?
done
`;

/** What every shell reads as it was written. */
const PLAIN = /^[\x20-\x7e]*$/;
const NOT_STARTED = 127;

/**
 * Gits started by a small shell: starting a process costs the more, the larger the one is that starts it, and this one
 * takes twice as long as a shell. What a shell could misread is started from here.
 * @param dir an empty directory for what they exchange
 * @throws Error when there is no shell
 */
export function gitShell(dir: string): RunGit {
  const [requests, answers, out, err, input] = ['requests', 'answers', 'out', 'err', 'in'].map((name) =>
    join(dir, name),
  ) as [string, string, string, string, string];
  const made = spawnSync('mkfifo', [requests, answers]);
  if (made.status !== 0) throw new Error(`no pipes could be made in ${dir}`);
  // Each end waits for another to be opened, unless somebody has both.
  const both = [openSync(requests, 'r+'), openSync(answers, 'r+')] as const;
  const shell = spawn('sh', ['-c', SCRIPT, 'sh', requests, answers, out, err], {
    stdio: 'ignore',
    env: gitEnvironment() as NodeJS.ProcessEnv,
  });
  shell.on('error', () => {});
  if (shell.pid === undefined) throw new Error('there is no shell to start git from');
  shell.unref();
  readLine(both[1]);
  const [to, from] = [openSync(requests, 'w'), openSync(answers, 'r')];
  for (const end of both) closeSync(end);
  return (call) => {
    if (![call.dir, ...call.args].every((word) => PLAIN.test(word))) return ownProcess(call);
    if (call.input !== '') writeFileSync(input, call.input);
    writeSync(to, request(call, call.input === '' ? devNull : input));
    const status = Number(readLine(from));
    const error = readFileSync(err, 'utf8');
    if (status === NOT_STARTED) throw new Error(`no git could be started in ${call.dir}: ${error}`);
    return { ok: status === 0, out: readFileSync(out, 'latin1'), error };
  };
}

function request({ dir, args, seconds }: GitCall, input: string): string {
  return [`${seconds} +0000`, String(args.length), input, dir, ...args].map((word) => `${word}\n`).join('');
}

function readLine(from: number): string {
  const chunk = Buffer.alloc(64);
  let line = '';
  while (!line.endsWith('\n')) {
    const length = readSync(from, chunk);
    if (length === 0) throw new Error('the shell that starts git has ended');
    line += chunk.toString('latin1', 0, length);
  }
  return line.trim();
}
