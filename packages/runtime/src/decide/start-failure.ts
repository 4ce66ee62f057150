/** What a failed start of an existing container means for the ladder. */
export interface StartFailure {
  kind: 'rootfs' | 'network' | 'bind_source' | 'port' | 'other';
  /** This container can never start again, so the next tier may be offered. */
  falls_through: boolean;
  hint: string;
}

const KNOWN: readonly (StartFailure & { pattern: RegExp })[] = [
  {
    pattern: /port is already allocated|address already in use/i,
    kind: 'port',
    falls_through: false,
    hint: 'If no container or program uses the port, restart the engine, or start with another port.',
  },
  {
    pattern: /failed to mount.*rootfs|rootfs.*(mount|no such file)|error (creating|mounting) overlay/i,
    kind: 'rootfs',
    falls_through: true,
    hint: 'Its file system is damaged; a new container can be made from the same image with --accept-loss.',
  },
  {
    pattern: /network \S+ (not found|does not exist)|could not find (a )?network/i,
    kind: 'network',
    falls_through: true,
    hint: 'Its network is gone; a new container can be made from the same image with --accept-loss.',
  },
  {
    pattern: /bind source path does not exist|invalid mount config|mount(ing)? .*no such file or directory/i,
    kind: 'bind_source',
    falls_through: true,
    hint: 'Put the missing directory back; without it a new container needs --accept-loss.',
  },
];

/**
 * In: the engine's own words. Only failures that no later start can overcome lead to the next tier; a port without
 * a visible owner, or anything unknown, stops here, so that a way back is not given up for a passing fault
 * (docs/status-and-causes.md#ladder).
 */
export function classifyStartFailure(message: string): StartFailure {
  const known = KNOWN.find(({ pattern }) => pattern.test(message));
  if (known === undefined) {
    return { kind: 'other', falls_through: false, hint: 'Run `jackin doctor`, then the same command again.' };
  }
  const { kind, falls_through, hint } = known;
  return { kind, falls_through, hint };
}
