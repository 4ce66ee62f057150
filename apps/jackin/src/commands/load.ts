import type { Jackin } from '@jackin/runtime';
import { Args, Flags } from '@oclif/core';
import { type Invocation, JackinCommand, usageError } from '../base-command.ts';
import { detachFlag, dryRunFlag, policyFlags, policyOf, restoreFlags } from '../flags.ts';
import { memoryFlag, positiveNumber, wholeNumber } from '../quantities.ts';

export class Load extends JackinCommand<typeof Load> {
  static override summary =
    'Start an agent session for a directory or workspace, or resume the one that is there.';
  static override description =
    'When sessions of the same workspace, role and agent can be resumed, you are asked; without a terminal say --new, --resume or --instance (exit code 3 otherwise). What follows -- is run by the shell agent, or given to another agent as extra arguments.';
  static override usage = 'load [ROLE] [TARGET] [FLAGS] [-- CMD...]';
  static override examples = [
    '<%= config.bin %> load shell . --backend standalone',
    '<%= config.bin %> load agent-smith ~/project --agent claude',
    '<%= config.bin %> load shell . --new --detach --json --backend standalone -- npm test',
  ];
  static override args = {
    role: Args.string({ description: 'Role: shell, agent-smith, or one of the configuration.' }),
    target: Args.string({
      description: 'Workspace name, PATH, or PATH:DST. Default: the current directory.',
    }),
  };
  static override flags = {
    agent: Flags.string({ description: "Agent to run. Default: the workspace's, else the role's first." }),
    new: Flags.boolean({
      description: 'Start a new session, whatever can be resumed.',
      exclusive: ['resume', 'instance'],
    }),
    resume: Flags.boolean({
      description: 'Resume the newest session that can be.',
      exclusive: ['new', 'instance'],
    }),
    instance: Flags.string({
      description: 'Resume this one.',
      helpValue: 'ID',
      exclusive: ['new', 'resume'],
    }),
    ...detachFlag,
    'role-branch': Flags.string({
      description: "Branch of the role's repository. Default: the repository's own.",
      helpValue: 'BRANCH',
    }),
    backend: Flags.string({
      description: 'Where the session runs. Default: runtime.default_backend, else docker.',
      options: ['docker', 'standalone'],
    }),
    mount: Flags.string({
      description: 'Another shared mount: PATH[:ro] or SRC:DST[:ro]. May be repeated.',
      helpValue: 'SPEC',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'mount-isolation': Flags.string({
      description: 'Isolation of a mount: shared, worktree or clone.',
      helpValue: 'DST=KIND',
      multiple: true,
      multipleNonGreedy: true,
    }),
    memory: memoryFlag({ description: 'Memory limit of the agent, e.g. 512m or 2g.', helpValue: 'SIZE' }),
    cpus: positiveNumber({ description: 'CPU limit of the agent, e.g. 1.5.', helpValue: 'N' }),
    pids: wholeNumber({ description: "Limit on the agent's processes.", helpValue: 'N' }),
    force: Flags.boolean({
      description:
        'Mount credentials, the files of jackin or an engine, and make a tree of a source with uncommitted changes, without being asked.',
    }),
    ...restoreFlags,
    ...policyFlags,
    ...dryRunFlag,
  };

  protected override readonly takesTail = true;

  protected execute(jackin: Jackin, { args, flags }: Invocation<typeof Load>) {
    this.refuseJsonUnless(flags.detach || flags['dry-run'], '--detach or --dry-run');
    const command = this.context.tail ?? [];
    if (flags.resume || flags.instance !== undefined) refuseRecipe(flags, command);
    return jackin.load({
      role: args.role ?? null,
      roleBranch: flags['role-branch'] ?? null,
      target: args.target ?? null,
      agent: flags.agent ?? null,
      session: sessionOf(flags),
      policy: policyOf(flags),
      detach: flags.detach,
      mounts: flags.mount ?? [],
      mountIsolation: flags['mount-isolation'] ?? [],
      limits: limitsOf(flags),
      backend: (flags.backend ?? null) as 'docker' | 'standalone' | null,
      command,
      acceptLoss: flags['accept-loss'],
      allowDrift: flags['allow-drift'],
      force: flags.force,
      dryRun: flags['dry-run'],
    });
  }
}

/** What belongs to the recipe of a session is fixed at its first launch. */
function refuseRecipe(flags: Record<string, unknown>, command: string[]): void {
  if (command.length > 0) {
    throw usageError('load', 'A resumed session keeps its own command: leave out what follows "--".');
  }
  const given = ['role-branch', 'mount', 'mount-isolation', 'memory', 'cpus', 'pids', 'force'].filter(
    (name) => flags[name] !== undefined && flags[name] !== false,
  );
  if (given.length > 0) {
    const names = given.map((name) => `--${name}`).join(', ');
    throw usageError('load', `A resumed session keeps its own role, mounts and limits: leave out ${names}.`);
  }
}

function sessionOf(flags: { new: boolean; resume: boolean; instance?: string | undefined }) {
  if (flags.instance !== undefined) return { instance: flags.instance };
  if (flags.resume) return 'newest' as const;
  return flags.new ? ('new' as const) : null;
}

function limitsOf(flags: {
  memory?: number | undefined;
  cpus?: number | undefined;
  pids?: number | undefined;
}) {
  return {
    ...(flags.memory === undefined ? {} : { memory_bytes: flags.memory }),
    ...(flags.cpus === undefined ? {} : { cpus: flags.cpus }),
    ...(flags.pids === undefined ? {} : { pids: flags.pids }),
  };
}
