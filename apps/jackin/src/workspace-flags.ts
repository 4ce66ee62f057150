import type { TypedWorkspaceChange } from '@jackin/runtime';
import { Flags } from '@oclif/core';

export const POLICIES = ['ask', 'keep', 'clean'] as const;
type Policy = (typeof POLICIES)[number];

const CLEAR = 'CLEAR';

/** A flag that may be repeated. */
const many = (description: string, helpValue: string) =>
  Flags.string({ description, helpValue, multiple: true, multipleNonGreedy: true });

/** Takes a field out of the file again; not together with the flag that sets it. */
const clear = (field: string, sets?: string) =>
  Flags.boolean({
    description: `Take ${field} out of the file.`,
    helpGroup: CLEAR,
    ...(sets === undefined ? {} : { exclusive: [sets] }),
  });

/** The fields of a workspace, as `create` and `edit` set them. */
export const workspaceFlags = {
  workdir: Flags.string({
    description: 'Where the agent starts, as the agent sees it. In or around a mount.',
    helpValue: 'DIR',
  }),
  mount: many('Add a mount: PATH[:ro] or SRC:DST[:ro]. May be repeated.', 'SPEC'),
  'mount-isolation': many('Isolation of a mount: shared, worktree or clone.', 'DST=KIND'),
  'allowed-role': many('Allow this role, and only those that are allowed. May be repeated.', 'KEY'),
  'default-role': Flags.string({
    aliases: ['role'],
    description: 'Role of a load that names none (also --role).',
    helpValue: 'KEY',
  }),
  'default-agent': Flags.string({ description: 'Agent of a load that names none.', helpValue: 'AGENT' }),
  backend: Flags.string({ description: 'Where its sessions run.', options: ['docker', 'standalone'] }),
  'git-pull': Flags.boolean({
    description:
      'Whether to pull when a session starts: kept for later versions, without effect in this one.',
    allowNo: true,
  }),
  'exit-policy': Flags.string({
    description: 'What becomes of a session that ended.',
    options: [...POLICIES],
  }),
  'docker-profile': Flags.string({
    description: 'Profile of its containers.',
    options: ['locked', 'hardened', 'standard', 'compat'],
  }),
  grant: many('Set a grant of its containers, such as memory=4g, cpus=1.5 or pids=512.', 'NAME=VALUE'),
  'docker-mount': many('Name a mount of its containers besides those of the project.', 'NAME=SPEC'),
  auth: many('How an agent, or github, gets its credentials, such as claude=sync.', 'AGENT=MODE'),
  'sync-source-dir': many("Where an agent's credentials are taken from.", 'AGENT=DIR'),
};

/** What only a workspace that exists can lose. */
export const clearFlags = {
  'remove-mount': many('Remove the mount at this destination.', 'DST'),
  'remove-allowed-role': many('Do not allow this role any more.', 'KEY'),
  'remove-docker-mount': many('Remove a named mount.', 'NAME'),
  'clear-default-role': clear('the default role', 'default-role'),
  'clear-last-role': clear('the last role'),
  'clear-default-agent': clear('the default agent', 'default-agent'),
  'clear-backend': clear('the backend', 'backend'),
  'clear-exit-policy': clear('the exit policy', 'exit-policy'),
  'clear-docker-profile': clear('the profile', 'docker-profile'),
  'clear-grant': Flags.string({
    ...manyOptions(),
    description: 'Take a grant out of the file.',
    helpValue: 'NAME',
  }),
  'clear-auth': Flags.string({
    ...manyOptions(),
    description: "Take an agent's credentials out of the file.",
    helpValue: 'AGENT',
  }),
};

type Given<K extends string> = { [Key in K]?: unknown };

/** The flags as the change they ask for. */
export function changeOf(
  flags: Given<keyof typeof workspaceFlags | keyof typeof clearFlags>,
): TypedWorkspaceChange {
  const list = (name: keyof typeof flags) => flags[name] as string[] | undefined;
  const text = (name: keyof typeof flags) => flags[name] as string | undefined;
  const cleared = (set: keyof typeof flags, clears: keyof typeof flags) =>
    flags[clears] === true ? null : text(set);
  return {
    workdir: text('workdir'),
    mounts: list('mount'),
    removeMounts: list('remove-mount'),
    mountIsolation: list('mount-isolation'),
    dockerMounts: list('docker-mount'),
    removeDockerMounts: list('remove-docker-mount'),
    allowRoles: list('allowed-role'),
    disallowRoles: list('remove-allowed-role'),
    defaultRole: cleared('default-role', 'clear-default-role'),
    lastRole: flags['clear-last-role'] === true ? null : undefined,
    defaultAgent: cleared('default-agent', 'clear-default-agent'),
    backend: cleared('backend', 'clear-backend'),
    exitPolicy: cleared('exit-policy', 'clear-exit-policy') as Policy | null | undefined,
    dockerProfile: cleared('docker-profile', 'clear-docker-profile'),
    gitPull: flags['git-pull'] as boolean | undefined,
    grants: list('grant'),
    clearGrants: list('clear-grant'),
    auth: list('auth'),
    syncSourceDirs: list('sync-source-dir'),
    clearAuth: list('clear-auth'),
  };
}

function manyOptions() {
  return { multiple: true, multipleNonGreedy: true, helpGroup: CLEAR } as const;
}
