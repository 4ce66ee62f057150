import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { within } from './bounded.ts';
import { printfEscaped, RESET_SEQUENCE, RESTORE_TITLE } from './sequences.ts';

/** The process that restores the terminal when jackin cannot. */
export interface Guard {
  /** Tells it the settings attach works with, as `stty -g` prints them. */
  workingSettings(settings: string): void;
  /** The terminal is restored: the guard leaves without touching it. Safe in an `exit` handler. */
  dismiss(): void;
  /** The guard restores the terminal now, for as long as that takes, also after jackin. */
  takeOver(): void;
  /** Resolves when it is gone, at the latest after `limitMs`. */
  gone(limitMs: number): Promise<void>;
}

/**
 * Reads commands from jackin; the end of the pipe is jackin's end. Settings are put back only while they are
 * still attach's own: the shell may have been faster, and its line editor must not be disturbed.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM TSTP TTIN TTOU PIPE
working=
while read -r word rest; do
  case $word in
    working) working=$rest ;;
    done) exit 0 ;;
  esac
done
if [ -z "$working" ] || [ "$(stty -g <&3)" = "$working" ]; then stty "$1" <&3; fi
printf '${printfEscaped(RESET_SEQUENCE + RESTORE_TITLE)}' >&3
`;

/**
 * Starts the guard in a session of its own, so that no signal to jackin's process group and no hangup reaches
 * it. It is a shell because that is there in 2 ms and in 1 MB, and needs nothing of jackin's own files.
 * @param ttyFd a descriptor of the terminal, open for reading and writing, blocking
 * @param saved the settings to put back, as `stty -g` prints them
 * @returns null when it cannot be started; attach works without it
 */
export async function startGuard(ttyFd: number, saved: string, path: string): Promise<Guard | null> {
  let child: ChildProcess;
  try {
    child = spawn('/bin/sh', ['-c', SCRIPT, 'jackin-terminal-guard', saved], {
      cwd: '/',
      detached: true,
      env: { PATH: path },
      stdio: ['pipe', 'ignore', 'ignore', ttyFd],
    });
    await once(child, 'spawn');
  } catch {
    return null;
  }
  return guardOf(child);
}

function guardOf(child: ChildProcess): Guard {
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  // A guard that somebody killed must not take jackin with it; the terminal is restored by jackin then.
  child.on('error', () => {});
  child.stdin?.on('error', () => {});
  child.unref();
  return {
    workingSettings: (settings) => child.stdin?.write(`working ${settings}\n`),
    dismiss: () => child.stdin?.write('done\n'),
    takeOver: () => child.stdin?.end(),
    async gone(limitMs) {
      await within(gone, limitMs);
      child.stdin?.destroy();
    },
  };
}
