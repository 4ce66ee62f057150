import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineSandbox, Instance } from './engine-sandbox.ts';

/** Puts a file of the session in the project, in its home, and in the container's own layer. */
export async function writeAll(sandbox: EngineSandbox, instance: Instance): Promise<void> {
  for (const path of onHost(sandbox, instance)) writeFileSync(path, instance.id);
  await sandbox.exec(instance, 'sh', '-c', `echo ${instance.id} >/opt/layer.txt`);
}

/** What the project and the home hold of it, looked at from the host. */
export function kept(sandbox: EngineSandbox, instance: Instance): (string | null)[] {
  return onHost(sandbox, instance).map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : null));
}

/** Which of the three the session itself sees. */
export async function seenInside(sandbox: EngineSandbox, instance: Instance): Promise<string[]> {
  const [project = ''] = onHost(sandbox, instance);
  const places = { project, home: '/home/agent/notes.txt', layer: '/opt/layer.txt' };
  const tests = Object.entries(places).map(
    ([name, path]) => `[ "$(cat ${path} 2>/dev/null)" = ${instance.id} ] && echo ${name}`,
  );
  const seen = await sandbox.exec(instance, 'sh', '-c', `${tests.join('; ')}; true`);
  return seen.split('\n').filter((line) => line !== '');
}

export const ALL = ['project', 'home', 'layer'];

function onHost(sandbox: EngineSandbox, { id, base }: Instance): string[] {
  return [join(sandbox.project, `${id}.txt`), join(sandbox.state, 'data', base, 'home/notes.txt')];
}
