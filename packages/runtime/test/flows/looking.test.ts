import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { StatusDocument } from '../../src/index.ts';
import { ended, killAll, type Lab, loaded, loadRequest, openLab, statusOf, type, until } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

const start = async (session: 'new' | null = 'new') =>
  loaded(await lab.jackin().load(loadRequest({ session })));

async function status(): Promise<{ document: StatusDocument; exitCode: number }> {
  const result = await lab.jackin().status({ instance: null, detail: true, sizes: true });
  if (result.kind !== 'status') throw new Error('not a status');
  return { document: result.document, exitCode: result.exitCode };
}

describe('status', () => {
  test('of nothing lists nothing and makes nothing', async () => {
    expect(await status()).toMatchObject({
      document: { instances: [], corrupt: [], notices: [] },
      exitCode: 0,
    });
    await expect(readFile(lab.paths.locksDb)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('shows evidence, the last screen and sizes, and records what it found', async () => {
    const { instance_id: id, container_base: base } = await start();
    const { document } = await status();
    expect(document.engine).toMatchObject([{ endpoint: 'standalone', state: 'reachable' }]);
    expect(document.instances[0]).toMatchObject({ instance_id: id, status: 'running', agent_alive: 'yes' });
    expect(document.instances[0]?.sizes?.total_bytes).toBeGreaterThan(0);
    await killAll(id);
    const [dead] = (await status()).document.instances;
    expect(dead).toMatchObject({ status: 'crashed', cause: 'capsule_crash', container: 'stopped' });
    expect(dead?.evidence.length).toBeGreaterThan(2);
    expect(await lab.manifest(base)).toMatchObject({
      status: 'crashed',
      exit_cause: { kind: 'capsule_crash' },
    });
  });

  test('tells in its document too that the index could not be used, and the next one finds it rebuilt', async () => {
    await start();
    await writeFile(lab.paths.indexFile, 'garbage');
    expect((await status()).document.notices).toMatchObject([{ code: 'INDEX_CORRUPT' }]);
    expect((await status()).document.notices).toEqual([]);
  });

  test('shows a corrupt record beside the others, exits 1, and leaves it as it is', async () => {
    const good = await start();
    const bad = await start();
    const file = lab.paths.instance(bad.container_base).manifest;
    await writeFile(file, 'garbage');
    const { document, exitCode } = await status();
    expect(exitCode).toBe(1);
    expect(document.instances.map((one) => one.instance_id)).toEqual([good.instance_id]);
    expect(document.corrupt).toMatchObject([{ path: file }]);
    expect(await readFile(file, 'utf8')).toBe('garbage');
    const purge = lab.jackin().purge({ instance: bad.instance_id, yes: true, force: true, dryRun: false });
    await expect(purge).rejects.toMatchObject({ code: 'MANIFEST_CORRUPT' });
    expect(await readFile(file, 'utf8')).toBe('garbage');
    await killAll(bad.instance_id);
  });

  test('judges the end of a configured agent by the exit codes that are clean for it', async () => {
    await lab.config('[agents.mine]\ncommand = ["sh", "-c", "exit 130"]\n');
    const { instance_id: id } = loaded(
      await lab.jackin().load(loadRequest({ role: 'agent-smith', agent: 'mine', session: 'new' })),
    );
    await until(async () => (await statusOf(lab, id)).container === 'stopped');
    expect(await statusOf(lab, id)).toMatchObject({ status: 'clean_exited', cause: 'clean' });
  });

  test('tells a broken configuration and lists all the same', async () => {
    await start();
    await lab.config('this is = not toml =');
    const { document } = await status();
    expect(document.instances).toHaveLength(1);
    expect(document.notices).toMatchObject([{ code: 'CONFIG_PROBLEM' }]);
  });
});

describe('hardline', () => {
  const attach = { instance: null, mode: 'attach', policy: null } as const;

  test('without an id needs exactly one running instance of this directory', async () => {
    const jackin = () => lab.jackin({ attached: async () => 'detach' });
    await expect(jackin().hardline(attach)).rejects.toMatchObject({ code: 'NOT_RUNNING' });
    const first = await start();
    expect(ended(await jackin().hardline(attach))).toMatchObject({ instance_id: first.instance_id });
    const second = await start();
    await expect(jackin().hardline(attach)).rejects.toMatchObject({ code: 'DECISION_NEEDED', exitCode: 3 });
    const elsewhere = join(lab.root, 'elsewhere');
    await mkdir(elsewhere);
    const other = lab.jackin({ attached: async () => 'detach', cwd: elsewhere });
    await expect(other.hardline(attach)).rejects.toMatchObject({ code: 'NOT_RUNNING' });
    const chooser = lab.jackin({
      attached: async () => 'detach',
      prompts: { available: true, chooseInstance: async () => second.instance_id },
    });
    expect(ended(await chooser.hardline(attach))).toMatchObject({ instance_id: second.instance_id });
  });

  test('to one that does not run names resume, and offers it at a terminal', async () => {
    const { instance_id: id } = await start();
    await killAll(id);
    const request = { ...attach, instance: id };
    const refused = lab.jackin({ attached: type('exit') }).hardline(request);
    await expect(refused).rejects.toMatchObject({
      code: 'NOT_RUNNING',
      hint: expect.stringContaining(`resume ${id}`),
    });
    const agreeing = lab.jackin({
      attached: async () => 'detach',
      prompts: { available: true, confirm: async () => true },
    });
    expect(ended(await agreeing.hardline(request))).toMatchObject({ outcome: 'detached' });
    expect(await statusOf(lab, id)).toMatchObject({ status: 'running', agent_alive: 'yes' });
  });

  test('--new starts a second agent, --inspect only looks', async () => {
    const { instance_id: id, container_base: base } = await start();
    const jackin = lab.jackin({ attached: async () => 'detach' });
    await jackin.hardline({ instance: id, mode: 'new', policy: null });
    expect((await lab.manifest(base)).sessions).toHaveLength(2);
    const seen = await lab.jackin().hardline({ instance: id, mode: 'inspect', policy: null });
    expect(seen).toMatchObject({ kind: 'status', document: { instances: [{ instance_id: id }] } });
  });
});

describe('doctor', () => {
  const findings = async () => {
    const result = await lab.jackin().doctor();
    if (result.kind !== 'doctor') throw new Error('not a diagnosis');
    return { exitCode: result.exitCode, findings: result.document.findings };
  };

  test('calls a default backend that is not there an error, and another default none', async () => {
    const first = await findings();
    expect(first.exitCode).toBe(1);
    expect(first.findings).toContainEqual(expect.objectContaining({ check: 'backend', severity: 'error' }));
    await lab.config('[runtime]\ndefault_backend = "standalone"\n');
    const second = await findings();
    expect(second.exitCode).toBe(0);
    expect(second.findings).toContainEqual(expect.objectContaining({ check: 'git', severity: 'ok' }));
  });

  test('warns about state under a temporary directory and lists what is left over', async () => {
    await lab.config('[runtime]\ndefault_backend = "standalone"\n');
    await mkdir(join(lab.paths.socketsDir, 'jk-k7p9m2xq-shell'), { recursive: true });
    await mkdir(lab.paths.dataDir, { recursive: true });
    await writeFile(join(lab.paths.dataDir, 'jk-k7p9m2xq-shell.lock'), '');
    const { findings: found } = await findings();
    expect(found).toContainEqual(
      expect.objectContaining({ check: 'state.file_system', severity: 'warning' }),
    );
    const orphans = found.filter(({ check }) => check === 'orphans').map(({ message }) => message);
    expect(orphans).toEqual([
      'locks without an instance: jk-k7p9m2xq-shell.lock',
      'socket directories without an instance: jk-k7p9m2xq-shell',
    ]);
  });
});
