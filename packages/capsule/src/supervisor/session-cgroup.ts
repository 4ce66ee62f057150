import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JackinError } from '@jackin/core';
import type { SessionPlan } from '../protocol/index.ts';
import { groupName, removeDirectory } from './cgroup-names.ts';
import { type Controller, findHierarchies, type Hierarchy } from './cgroup-tree.ts';

/** A session's own control groups: its limits, its out-of-memory count, its processes. */
export interface SessionCgroup {
  /** The argv that enters the groups and then becomes `argv`; nothing runs outside them, not even for a moment. */
  entering(argv: string[]): string[];
  /** How often the kernel killed for lack of memory in this group. */
  oomKills(): number;
  pids(): number[];
  /** True when it is gone; false while processes are in it. */
  remove(): boolean;
}

type Limits = NonNullable<SessionPlan['limits']>;

export interface SessionCgroupOptions {
  instanceId: string;
  sessionId: string;
  limits: Limits;
  /** For tests of other layouts. */
  hierarchies?: Map<Controller, Hierarchy>;
}

const CPU_PERIOD_US = 100_000;
/** The kernel rounds memory limits to pages. */
const LARGEST_PAGE_BYTES = 65_536;

/**
 * Makes the groups. Null where there can be none and no limit asks for one: not as root, not on Linux, not writable.
 * @throws JackinError `LIMIT_UNENFORCEABLE`
 */
export function createSessionCgroup(options: SessionCgroupOptions): SessionCgroup | null {
  const { limits } = options;
  const wanted: [Controller, boolean][] = [
    ['memory', limits.memory_bytes !== undefined],
    ['pids', limits.pids !== undefined],
    ['cpu', limits.cpus !== undefined],
  ];
  const required = wanted.filter(([, limited]) => limited).map(([controller]) => controller);
  const hierarchies = process.getuid?.() === 0 ? (options.hierarchies ?? findHierarchies()) : new Map();
  const name = groupName(options.instanceId, options.sessionId);
  const made = new Map<Controller, Group>();
  for (const [controller, limited] of wanted) {
    if (!limited && controller !== 'memory') continue;
    const group =
      reuse(made, hierarchies.get(controller)) ?? make(name, controller, hierarchies.get(controller));
    if (group !== null) made.set(controller, group);
    if (limited && (group === null || !limit(group, controller, limits))) {
      for (const one of made.values()) removeDirectory(one.directory);
      throw unenforceable(controller);
    }
  }
  if (made.size === 0) return null;
  return sessionCgroup([...made.values()], made.get('memory'), required.length > 0);
}

interface Group {
  version: 1 | 2;
  parent: string;
  directory: string;
}

/** One directory serves all controllers of version 2. */
function reuse(made: Map<Controller, Group>, hierarchy: Hierarchy | undefined): Group | null {
  if (hierarchy?.version !== 2) return null;
  return [...made.values()].find(({ version }) => version === 2) ?? null;
}

/** Below the group this process is in, so that limits around the capsule hold; else below the root. */
function make(name: string, controller: Controller, hierarchy: Hierarchy | undefined): Group | null {
  if (hierarchy === undefined) return null;
  const { version, own, root } = hierarchy;
  for (const parent of new Set([own, root])) {
    const directory = join(parent, name);
    try {
      if (version === 2) enableBelow(parent, controller);
      removeDirectory(directory);
      mkdirSync(directory);
      return { version, parent, directory };
    } catch {
      removeDirectory(directory);
    }
  }
  return null;
}

/** Throws where processes are in `parent` itself: only the root may have both. */
function enableBelow(parent: string, controller: Controller): void {
  const file = join(parent, 'cgroup.subtree_control');
  const enabled = readFileSync(file, 'utf8').trim().split(' ');
  if (!enabled.includes(controller)) writeFileSync(file, `+${controller}`);
}

function limit(group: Group, controller: Controller, limits: Limits): boolean {
  const write = (file: string, value: string): void => writeFileSync(join(group.directory, file), value);
  try {
    if (group.version === 2) enableBelow(group.parent, controller);
    if (controller === 'memory') limitMemory(group, limits.memory_bytes as number);
    else if (controller === 'pids') write('pids.max', String(limits.pids));
    else {
      const quota = Math.max(1000, Math.round((limits.cpus as number) * CPU_PERIOD_US));
      if (group.version === 2) write('cpu.max', `${quota} ${CPU_PERIOD_US}`);
      else {
        write('cpu.cfs_period_us', String(CPU_PERIOD_US));
        write('cpu.cfs_quota_us', String(quota));
      }
    }
    return true;
  } catch {
    return false;
  }
}

function limitMemory({ version, directory }: Group, bytes: number): void {
  const file = join(directory, version === 2 ? 'memory.max' : 'memory.limit_in_bytes');
  writeFileSync(file, String(bytes));
  const inForce = Number(readFileSync(file, 'utf8'));
  if (!(inForce <= bytes + LARGEST_PAGE_BYTES)) throw new Error(`${file} says ${inForce}`);
  // With swap the limit would only move memory there; without swap accounting the file is missing.
  const [swap, value] =
    version === 2 ? ['memory.swap.max', '0'] : ['memory.memsw.limit_in_bytes', String(bytes)];
  if (namesIn(directory).includes(swap)) writeFileSync(join(directory, swap), value);
}

const ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs"';
const THEN_RUN = 'shift; done; shift; exec "$@"';
/** With a limit nothing runs outside; without one a group that cannot be entered is no reason not to run. */
const ENTER_OR_END = `${ENTER} || exit 125; ${THEN_RUN}`;
const ENTER_IF_POSSIBLE = `${ENTER} 2>/dev/null || :; ${THEN_RUN}`;

function sessionCgroup(groups: Group[], memory: Group | undefined, limited: boolean): SessionCgroup {
  const directories = [...new Set(groups.map(({ directory }) => directory))];
  return {
    entering: (argv) => {
      const script = limited ? ENTER_OR_END : ENTER_IF_POSSIBLE;
      return ['/bin/sh', '-c', script, 'jackin-session', ...directories, '--', ...argv];
    },
    oomKills: () => (memory === undefined ? 0 : oomKillsIn(memory)),
    pids: () =>
      directories.flatMap((directory) =>
        read(join(directory, 'cgroup.procs')).split('\n').filter(Boolean).map(Number),
      ),
    remove: () => directories.map(removeDirectory).every(Boolean),
  };
}

/**
 * How often the kernel killed for lack of memory, counted from now, in the group that is the top of what can be seen:
 * that of a container, whose capsule can make no groups. Elsewhere the group holds strangers too, and it is always 0.
 */
export function surroundingOomKills(hierarchies = findHierarchies()): () => number {
  const memory = hierarchies.get('memory');
  if (memory === undefined || memory.own !== memory.root) return () => 0;
  const group = { version: memory.version, directory: memory.own };
  const before = oomKillsIn(group);
  return () => oomKillsIn(group) - before;
}

function oomKillsIn({ version, directory }: Pick<Group, 'version' | 'directory'>): number {
  const file = version === 2 ? 'memory.events' : 'memory.oom_control';
  return Number(/^oom_kill (\d+)$/m.exec(read(join(directory, file)))?.[1] ?? 0);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function unenforceable(controller: Controller): JackinError {
  const name = { memory: 'memory', pids: 'process', cpu: 'CPU' }[controller];
  return new JackinError({
    code: 'LIMIT_UNENFORCEABLE',
    message: `The ${name} limit cannot be enforced here: no control group of its own could be made for the session.`,
    hint: 'Leave the limit out, or run where jackin is root and control groups are writable.',
    details: { controller },
  });
}
