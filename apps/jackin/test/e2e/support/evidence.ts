import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Instance, processesOf } from './instance.ts';
import { eventually, type Sandbox } from './sandbox.ts';

/** What a living capsule rewrites by itself. */
const OF_THE_CAPSULE = new Set(['heartbeat.json', 'screen.json']);

/** Every path below a directory with kind, mode, time and content: equal before and after means untouched. */
export function snapshot(directory: string): string[] {
  if (!existsSync(directory)) return ['nothing'];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(({ name }) => !OF_THE_CAPSULE.has(name))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      if (entry.isSymbolicLink()) return `${path} -> ${readlinkSync(path)}`;
      const { mode, mtimeMs, size } = statSync(path);
      if (!entry.isFile()) return `${path} ${mode.toString(8)}`;
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
      return `${path} ${mode.toString(8)} ${mtimeMs} ${size} ${hash}`;
    })
    .sort();
}

/** The names of everything that is kept of an instance: its data, its socket directory, its lock, its row. */
export function keptOf(sandbox: Sandbox, { base }: Instance): string[] {
  const data = join(sandbox.state, 'data');
  const files = existsSync(join(data, base))
    ? readdirSync(join(data, base), { recursive: true }).map((name) => `${base}/${name}`)
    : [];
  const index = existsSync(join(data, 'instances.json'))
    ? readFileSync(join(data, 'instances.json'), 'utf8')
    : '';
  return [
    ...files.filter((name) => !name.includes('/state/')),
    ...[`data/${base}.lock`, `sockets/${base}`].filter((name) => existsSync(join(sandbox.state, name))),
    ...(index.includes(base) ? ['row'] : []),
  ].sort();
}

/** Resolves when no process of the instance is left. */
export async function ended({ id }: Instance): Promise<void> {
  await eventually(`nothing of ${id} runs`, async () => (await processesOf(id)).length === 0, 30_000);
}

export function capsulePid(sandbox: Sandbox, { base }: Instance): number {
  return sandbox.manifest(base).backend.standalone.pid;
}

/** The exit record of the capsule; undefined while there is none. */
export function exitRecord(sandbox: Sandbox, { base }: Instance): Record<string, any> | undefined {
  const path = join(sandbox.state, 'data', base, 'state/exit.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The records as they are after a restart of the machine: every boot they name is an earlier one. */
export function rebooted(sandbox: Sandbox, { base }: Instance): void {
  const data = join(sandbox.state, 'data', base);
  const boot_id = '00000000-0000-4000-8000-000000000000';
  const manifest = sandbox.manifest(base);
  manifest.backend.standalone.boot_id = boot_id;
  manifest.engine.run = boot_id;
  manifest.last_seen.boot_id = boot_id;
  writeFileSync(join(data, '.jackin/instance.json'), JSON.stringify(manifest));
  const heartbeat = join(data, 'state/heartbeat.json');
  const beat = JSON.parse(readFileSync(heartbeat, 'utf8'));
  writeFileSync(heartbeat, JSON.stringify({ ...beat, boot_id }));
}
