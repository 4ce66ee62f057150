import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { JackinError } from '@jackin/core';
import type { SessionPlan } from '../protocol/index.ts';

export interface Command {
  /** Absolute path of the program. */
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** What would tell a program that it runs in a terminal it does not run in. */
const FOREIGN_TERMINAL = [
  'TMUX',
  'TMUX_PANE',
  'STY',
  'WINDOW',
  'WINDOWID',
  'TERMCAP',
  'COLUMNS',
  'LINES',
  'TERM_PROGRAM',
  'TERM_PROGRAM_VERSION',
  'TERM_SESSION_ID',
  'VTE_VERSION',
  'KITTY_WINDOW_ID',
  'KITTY_LISTEN_ON',
  'WEZTERM_PANE',
];
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * What a session plan asks to run: checked before anything starts, because a program that cannot be executed
 * would otherwise look like an agent that ended with code 1.
 * @throws JackinError `COMMAND_NOT_FOUND`, `WORKDIR_NOT_FOUND`, `SESSION_PLAN_INVALID`
 */
export function commandOf(plan: SessionPlan, instanceId: string): Command {
  const env = environmentOf(plan, instanceId);
  const [program = '', ...args] = plan.argv;
  const strings = [...plan.argv, plan.cwd, ...Object.entries(env).flat()];
  if (strings.some((text) => text.includes('\0')) || Object.keys(env).some((name) => name.includes('='))) {
    throw new JackinError({
      code: 'SESSION_PLAN_INVALID',
      message: `The command, directory or environment of session ${plan.session_id} holds a character it cannot have.`,
    });
  }
  if (!isDirectory(plan.cwd)) {
    throw new JackinError({
      code: 'WORKDIR_NOT_FOUND',
      message: `The session's directory ${plan.cwd} is not there, or is not a directory.`,
      hint: 'Make or mount it again, then run the same command; nothing else of the session is lost.',
      details: { cwd: plan.cwd },
    });
  }
  const file = findProgram(program, plan.cwd, env.PATH ?? DEFAULT_PATH);
  if (file === null) {
    throw new JackinError({
      code: 'COMMAND_NOT_FOUND',
      message: `The program ${program} of agent ${plan.agent} is not there or cannot be executed.`,
      hint: 'Install the agent in the role, or choose another agent.',
      details: { program, agent: plan.agent },
    });
  }
  return { file, args, cwd: plan.cwd, env };
}

function environmentOf(plan: SessionPlan, instanceId: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !FOREIGN_TERMINAL.includes(name)) env[name] = value;
  }
  return {
    ...env,
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    ...plan.env,
    PWD: plan.cwd,
    JACKIN_INSTANCE: instanceId,
    JACKIN_SESSION: plan.session_id,
  };
}

function findProgram(program: string, cwd: string, path: string): string | null {
  if (program.includes('/')) {
    const file = isAbsolute(program) ? program : resolve(cwd, program);
    return isProgram(file) ? file : null;
  }
  if (program === '') return null;
  for (const directory of path.split(delimiter)) {
    const file = resolve(cwd, directory, program);
    if (isProgram(file)) return file;
  }
  return null;
}

/** How many interpreters of interpreters the kernel follows. */
const MAX_INTERPRETERS = 5;
const FIRST_LINE_BYTES = 256;

/** Can be executed, and so can the program its first line names: that one goes away when its installation moves. */
function isProgram(file: string, depth = 0): boolean {
  try {
    accessSync(file, constants.X_OK);
    if (!statSync(file).isFile()) return false;
  } catch {
    return false;
  }
  const interpreter = interpreterOf(file);
  if (interpreter === null) return true;
  return depth < MAX_INTERPRETERS && isProgram(interpreter, depth + 1);
}

/** Null: it is no script, names a relative one, or can be executed but not read. */
function interpreterOf(file: string): string | null {
  try {
    const fd = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(FIRST_LINE_BYTES);
      const text = bytes.toString('latin1', 0, readSync(fd, bytes, 0, FIRST_LINE_BYTES, 0));
      return /^#![ \t]*(\/[^\s\0]*)/.exec(text)?.[1] ?? null;
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
