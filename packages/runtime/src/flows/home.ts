import { homedir } from 'node:os';

/** What `~` means to the operator. */
export function homeOf({ env }: { env: NodeJS.ProcessEnv }): string {
  return env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME;
}
