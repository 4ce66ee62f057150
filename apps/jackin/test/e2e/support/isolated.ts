import { ended } from './evidence.ts';
import type { Instance } from './instance.ts';
import { COMMITS, type Repository } from './repository.ts';
import type { Sandbox } from './sandbox.ts';

export type Kind = 'worktree' | 'clone';

/** A session whose agent works in a tree of its own, does `script` there and ends. */
export async function isolatedSession(
  sandbox: Sandbox,
  repository: Repository,
  kind: Kind,
  script: string,
  extra: readonly string[] = [],
): Promise<Instance> {
  const instance = await startIsolated(sandbox, repository, kind, script, extra);
  await ended(instance);
  return instance;
}

/** The same without waiting for its end. */
export async function startIsolated(
  sandbox: Sandbox,
  { path }: Repository,
  kind: Kind,
  script: string,
  extra: readonly string[] = [],
): Promise<Instance> {
  const args = ['load', 'shell', path, '--agent', 'shell', '--new', '--detach', '--json'];
  const result = await sandbox.jackin([
    ...args,
    ...['--backend', 'standalone', '--mount-isolation', `${path}=${kind}`],
    ...extra,
    ...['--', 'sh', '-c', `set -e; ${COMMITS.join(' ')} ${script}`],
  ]);
  if (result.code !== 0) throw new Error(`load failed: ${result.stdout}\n${result.stderr}`);
  const { instance_id: id, container_base: base } = result.json().data;
  return { id, base };
}

/** What `status ID --detail` says about the only tree. */
export async function treeOf(sandbox: Sandbox, { id }: Instance): Promise<Record<string, any>> {
  const { json } = await sandbox.jackin(['status', id, '--detail', '--json']);
  const [instance] = json().data.instances;
  return { ...instance.isolated[0], status: instance.status };
}
