import { AsyncLocalStorage } from 'node:async_hooks';

/** What a command may use of the process it runs in; the tests run commands with their own. */
export interface CliContext {
  stdin: NodeJS.ReadStream & { readonly fd: number };
  stdout: NodeJS.WriteStream & { readonly fd: number };
  stderr: NodeJS.WriteStream;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** What followed `--`, split off before the flag parser could take it for arguments; null without `--`. */
  tail: string[] | null;
}

const storage = new AsyncLocalStorage<CliContext>();

/** Runs `fn` with this context; oclif makes the command objects, so it cannot be passed to them by hand. */
export function withContext<T>(context: CliContext, fn: () => Promise<T>): Promise<T> {
  return storage.run(context, fn);
}

/** The context of the running command. Throws when called outside of one (a programming error). */
export function cliContext(): CliContext {
  const context = storage.getStore();
  if (context === undefined) throw new Error('no command is running');
  return context;
}
