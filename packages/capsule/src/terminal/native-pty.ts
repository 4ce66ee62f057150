import { createRequire } from 'node:module';
import { JackinError } from '@jackin/core';

/** The binding of @lydell/node-pty's prebuilt package for this platform. */
export interface NativePty {
  fork(
    file: string,
    args: string[],
    env: string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    onExit: (code: number, signal: number) => void,
  ): { fd: number; pid: number; pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

export interface NativeParts {
  native: NativePty;
  /** Path of the helper that macOS starts programs through. */
  helper: string;
}

let loaded: NativeParts | undefined;

/**
 * The binding, found beside or above this file as `node_modules/@lydell/node-pty-<platform>-<arch>`. Loaded through
 * createRequire, so that a bundler leaves it where it is; the JavaScript half of node-pty is not used (README,
 * "Terminals").
 * @throws JackinError `PTY_UNAVAILABLE`
 */
export function loadNativePty(): NativeParts {
  loaded ??= load();
  return loaded;
}

function load(): NativeParts {
  const platformPackage = `@lydell/node-pty-${process.platform}-${process.arch}`;
  const failures: unknown[] = [];
  for (const find of requires()) {
    try {
      const requireFrom = find();
      const native = requireFrom(`${platformPackage}/pty.node`) as NativePty;
      const helper =
        process.platform === 'darwin' ? requireFrom.resolve(`${platformPackage}/spawn-helper`) : '';
      return { native, helper };
    } catch (error) {
      failures.push(error);
    }
  }
  throw new JackinError({
    code: 'PTY_UNAVAILABLE',
    message: `${platformPackage} could not be loaded: ${String(failures[0])}`,
    hint: 'Install jackin again without leaving out optional dependencies.',
    cause: failures,
  });
}

/** From here; or from node-pty, whose own node_modules may hold it. */
function requires(): (() => NodeJS.Require)[] {
  const here = createRequire(import.meta.url);
  return [() => here, () => createRequire(here.resolve('@lydell/node-pty'))];
}
