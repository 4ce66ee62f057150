import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Instance, statusDocument } from './support/instance.ts';
import { isolatedSession, type Kind } from './support/isolated.ts';
import { createRepository, gitDirectoryOf, type Repository } from './support/repository.ts';
import { type CliResult, createSandbox, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(600_000);

let sandbox: Sandbox;
let repository: Repository;
let counter: string;
beforeEach(() => {
  sandbox = createSandbox();
  repository = createRepository(join(sandbox.root, 'app'), join(sandbox.root, 'remote.git'));
  counter = join(sandbox.root, 'calls');
  const bin = join(sandbox.root, 'bin');
  mkdirSync(bin);
  // Whoever starts this git the Nth time is gone before git begins.
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh
calls=$(($(cat ${counter} 2>/dev/null || echo 0) + 1))
echo $calls > ${counter}
[ "$calls" = "$KILL_AT" ] && kill -9 $PPID
PATH=\${PATH#*:}
exec git "$@"
`,
  );
  chmodSync(join(bin, 'git'), 0o755);
  sandbox.env.PATH = `${bin}:${sandbox.env.PATH}`;
});
afterEach(() => sandbox.dispose());

/** Runs a command that is killed at its Nth git; null: it was done before that. */
async function killedAt(call: number, args: string[]): Promise<CliResult | null> {
  rmSync(counter, { force: true });
  const result = await sandbox.jackin(args, { env: { KILL_AT: String(call) } });
  if (result.signal === 'SIGKILL') return result;
  const calls = existsSync(counter) ? Number(readFileSync(counter, 'utf8')) : 0;
  expect([call > calls, result.code, result.stdout]).toEqual([true, 0, result.stdout]);
  return null;
}

const repositoryNow = () => gitDirectoryOf(join(repository.path, '.git'), /^(objects|logs)\//);
const loadArgs = (kind: Kind) => [
  ...['load', 'shell', repository.path, '--agent', 'shell', '--new', '--detach', '--json'],
  ...['--backend', 'standalone', '--mount-isolation', `${repository.path}=${kind}`, '--', 'sleep', '1000'],
];

test.each<[Kind, number]>([
  ['worktree', 1],
  ['clone', 3],
])('a launch with a %s that is killed at any git leaves nothing nobody knows of', async (kind, every) => {
  const before = repositoryNow();
  let killed = 0;
  for (let call = 1; ; call += every) {
    const undisturbed = (await killedAt(call, loadArgs(kind))) === null;
    const { instances } = await statusDocument(sandbox);
    expect([call, instances.length <= 1]).toEqual([call, true]);
    for (const { instance_id: id, container_base: base } of instances) {
      const resumed = await sandbox.jackin(['resume', id, '--detach', '--json']);
      const { error } = resumed.json();
      // Made or not: never an agent in half a tree.
      if (resumed.code !== 0) expect([call, error.code]).toEqual([call, 'SETUP_INCOMPLETE']);
      const purged = await sandbox.jackin(['purge', id, '--yes', '--json']);
      expect([call, purged.code, purged.stdout]).toEqual([call, 0, purged.stdout]);
      expect(await sandbox.traces({ id, base })).toEqual([]);
    }
    expect([call, repositoryNow()]).toEqual([call, before]);
    if (undisturbed) break;
    killed += 1;
  }
  expect(killed).toBeGreaterThan(2);
});

test('a purge that is killed at any git is finished by the next one, and nothing is left', async () => {
  const before = repositoryNow();
  let killed = 0;
  for (let call = 1; ; call += 2) {
    const instance: Instance = await isolatedSession(sandbox, repository, 'worktree', 'echo draft > draft');
    const undisturbed = (await killedAt(call, ['purge', instance.id, '--force', '--json'])) === null;
    if (!undisturbed) {
      killed += 1;
      const again = await sandbox.jackin(['purge', instance.id, '--force', '--json']);
      expect([call, again.code, again.stdout]).toEqual([call, 0, again.stdout]);
    }
    expect(await sandbox.traces(instance)).toEqual([]);
    expect([call, repositoryNow()]).toEqual([call, before]);
    if (undisturbed) break;
  }
  expect(killed).toBeGreaterThan(2);
});
