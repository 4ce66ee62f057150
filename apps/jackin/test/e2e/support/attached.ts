import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from './instance.ts';
import { eventually, type Sandbox } from './sandbox.ts';
import { openTerminal, type TerminalSession } from './terminal.ts';

/** Wide and high enough that a result stands on the screen whole and unwrapped. */
const SIZE = { cols: 220, rows: 50 };
let terminals = 0;

export interface AttachedLoad {
  terminal: TerminalSession;
  instance: Instance;
}

/** The lines of a shell agent that says `ready N` at its Nth start and ends with 0 at the next line typed. */
export const WAITING = [
  'sh',
  '-c',
  'echo again >>"$HOME/starts"; echo "ready $(wc -l <"$HOME/starts" | tr -d " ")"; read line; exit 0',
];

/** The real binary at a terminal of its own. */
export function atTerminal(
  sandbox: Sandbox,
  args: string[],
  env: Record<string, string> = {},
): TerminalSession {
  terminals += 1;
  return openTerminal(sandbox, args, { ...SIZE, env, name: String(terminals) });
}

/** `load shell` with an attached terminal, once its agent is ready. */
export async function loadAttached(sandbox: Sandbox, extra: string[] = []): Promise<AttachedLoad> {
  const known = rows(sandbox);
  const command = ['load', 'shell', sandbox.project, '--agent', 'shell', '--backend', 'standalone', '--new'];
  const terminal = atTerminal(sandbox, [...command, ...extra, '--', ...WAITING]);
  await terminal.waitFor('ready 1', 60_000);
  const instance = rows(sandbox).find(({ id }) => !known.some((one) => one.id === id));
  if (instance === undefined) throw new Error('the load made no row');
  return { terminal, instance };
}

/** The instances of the index. */
export function rows(sandbox: Sandbox): Instance[] {
  const index = join(sandbox.state, 'data/instances.json');
  if (!existsSync(index)) return [];
  return JSON.parse(readFileSync(index, 'utf8')).instances.map((row: Record<string, string>) => ({
    id: row.instance_id,
    base: row.container_base,
  }));
}

export interface RecordedWorktree {
  /** Work that lies in the tree. */
  work: string;
  /** Takes record and tree away, as somebody who finished with them does: shared mounts are all that is left. */
  remove(): void;
}

/** A worktree with its record whose registration is lost: nobody can tell what it holds. */
export function recordWorktree(sandbox: Sandbox, { base }: Instance): RecordedWorktree {
  const data = join(sandbox.state, 'data', base);
  const file = join(data, '.jackin/isolation.json');
  const tree = join(data, 'git/worktree/repo/workspace/proj', base);
  const work = join(tree, 'work.txt');
  const record = {
    workspace: 'proj',
    mount_dst: '/workspace/proj',
    original_src: sandbox.project,
    isolation: 'worktree',
    worktree_path: tree,
    scratch_branch: `jackin/scratch/${base}`,
    base_commit: '9f8e7d6c5b4a39281706f5e4d3c2b1a098765432',
    selector_key: 'shell',
    container_name: base,
    cleanup_status: 'active',
  };
  mkdirSync(tree, { recursive: true });
  writeFileSync(work, 'the only copy');
  writeFileSync(file, JSON.stringify({ version: 1, records: [record] }), { mode: 0o600 });
  return {
    work,
    remove: () => {
      rmSync(join(data, 'git'), { recursive: true });
      rmSync(file);
    },
  };
}

/** The pid of the agent that is alive, as the capsule's heartbeat tells it; `not`: another one than that. */
export async function agentPid(sandbox: Sandbox, { base }: Instance, not?: number): Promise<number> {
  const file = join(sandbox.state, 'data', base, 'state/heartbeat.json');
  return eventually('an agent is alive', () => {
    const { sessions } = JSON.parse(readFileSync(file, 'utf8')) as {
      sessions: { alive: boolean; pid: number | null }[];
    };
    const pid = sessions.findLast(({ alive }) => alive)?.pid ?? undefined;
    return pid === not ? undefined : pid;
  });
}
