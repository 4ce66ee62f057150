import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from './instance.ts';
import { eventually, type Sandbox } from './sandbox.ts';

/** A program of the operator's PATH that takes an agent's place. */
export interface FakeAgent {
  /** The environment of every command that may start it. */
  env: Record<string, string>;
  load(extra?: string[]): Promise<Instance>;
  /** Its process, once it runs; `not`: another one than that. */
  pid(not?: number): Promise<number>;
  /** The arguments of its last start. */
  args(): string;
  /** Lets it end with this code. */
  exit(code: number): void;
}

/**
 * Puts a program `name` first on the PATH. It notes its pid and arguments, runs `body`, and without one waits to be told
 * its exit code.
 */
export function fakeAgent(sandbox: Sandbox, name: string, body?: string): FakeAgent {
  const bin = join(sandbox.root, 'bin');
  const note = (what: string) => join(sandbox.root, `${name}.${what}`);
  const told = `while [ ! -s '${note('code')}' ]; do sleep 0.05; done; read code <'${note('code')}'; exit "$code"`;
  mkdirSync(bin, { recursive: true });
  const lines = ['#!/bin/sh', `echo "$*" >'${note('args')}'`, `echo $$ >'${note('pid')}'`, body ?? told, ''];
  writeFileSync(join(bin, name), lines.join('\n'));
  chmodSync(join(bin, name), 0o755);
  const env = { PATH: `${bin}:${sandbox.env.PATH}` };
  return {
    env,
    load: async (extra = []) => {
      const result = await sandbox.jackin(loadAgent(sandbox, name, extra), { env });
      if (result.code !== 0) throw new Error(`load failed: ${result.stdout}\n${result.stderr}`);
      const { data } = result.json();
      return { id: data.instance_id, base: data.container_base };
    },
    pid: (not) =>
      eventually(`${name} runs`, () => {
        const pid = existsSync(note('pid')) ? Number(readFileSync(note('pid'), 'utf8')) : 0;
        return pid > 0 && pid !== not ? pid : undefined;
      }),
    args: () => readFileSync(note('args'), 'utf8').trim(),
    exit: (code) => writeFileSync(note('code'), `${code}\n`),
  };
}

export function loadAgent(sandbox: Sandbox, agent: string, extra: string[] = []): string[] {
  const what = ['load', 'agent-smith', sandbox.project, '--agent', agent, '--backend', 'standalone'];
  return [...what, '--new', '--detach', '--json', ...extra];
}
