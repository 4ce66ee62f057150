import { readFile } from 'node:fs/promises';
import {
  type JackinPaths,
  type ProcessIdentity,
  processState,
  runProcess,
  toJackinError,
} from '@jackin/core';
import type { InstanceRef } from '../backend.ts';

/** The environment name every process of an instance carries. */
export const INSTANCE_VARIABLE = 'JACKIN_INSTANCE';

export type CapsuleProcess =
  | {
      state: 'alive';
      identity: ProcessIdentity;
      /** Where it listens, when its own arguments say so; null: as recorded. */
      socket: string | null;
    }
  /** Neither the recorded process nor another capsule of this instance is alive; `leftovers` outlived it. */
  | { state: 'gone'; leftovers: ProcessIdentity[] }
  | { state: 'unknown'; reason: string };

/**
 * The capsule process of an instance. The recorded identity decides; when it is dead, a capsule that was started but
 * not yet recorded (its starter was killed in between) is recognised by the instance's environment and its own
 * `--config` argument; `processesOf` lists those that carry the environment. A process list that cannot be read is `unknown`, never "none".
 */
export async function findCapsule(
  ref: InstanceRef,
  place: ReturnType<JackinPaths['instance']>,
  processesOf: (instanceId: string) => Promise<ProcessIdentity[]>,
): Promise<CapsuleProcess> {
  try {
    const recorded = ref.manifest.backend?.standalone;
    if (recorded) {
      const { pid, start_time, boot_id } = recorded;
      const state = await processState({ pid, start_time, boot_id });
      if (state === 'alive') return { state, identity: { pid, start_time, boot_id }, socket: null };
      if (state === 'unknown') return { state, reason: `whether process ${pid} is alive cannot be seen` };
    }
    return await findUnrecorded(await processesOf(ref.instance_id), place.agentConfig);
  } catch (error) {
    return { state: 'unknown', reason: `processes cannot be listed: ${toJackinError(error).message}` };
  }
}

async function findUnrecorded(processes: ProcessIdentity[], agentConfig: string): Promise<CapsuleProcess> {
  for (const identity of processes) {
    const { text, separator } = await commandOf(identity.pid);
    if (!text.includes(`${separator}--config${separator}${agentConfig}${separator}`)) continue;
    const [, rest = ''] = text.split(`${separator}--socket${separator}`);
    const [socket = ''] = rest.split(`${separator}--ready-fd${separator}`);
    return { state: 'alive', identity, socket: socket === '' ? null : socket };
  }
  return { state: 'gone', leftovers: processes };
}

/** A process's command line, empty when it has just gone. `ps` runs the arguments together with spaces. */
async function commandOf(pid: number): Promise<{ text: string; separator: string }> {
  if (process.platform === 'linux') {
    return { text: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''), separator: '\0' };
  }
  const listed = await runProcess('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { timeoutMs: 5_000 });
  return { text: listed.stdout.toString('utf8'), separator: ' ' };
}
