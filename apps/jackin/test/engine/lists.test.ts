import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newInstanceId } from '@jackin/core';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CountingProxy, startCountingProxy } from '../../../../tools/docker-lab/counting-proxy.ts';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';

const MINUTES = 60_000;
const LIMIT = 4 * MINUTES;
const MANY = 50;

await describeOnEngine('harmless', 'what status asks of an engine', (engine) => {
  let sandbox: EngineSandbox;
  let proxy: CountingProxy;
  let first: Instance;

  beforeAll(async () => {
    sandbox = createEngineSandbox(engine());
    first = await sandbox.load(['sh', '-c', 'while :; do sleep 1; done']);
    await sandbox.container(first).stop();
    expect(await sandbox.status(first)).toMatchObject({ status: 'stopped', cause: 'stopped_by_other' });
    proxy = await startCountingProxy(engine().socket);
  }, LIMIT);
  afterAll(async () => {
    await proxy.close();
    await sandbox.dispose();
  }, LIMIT);

  /** The requests of one `status` and what it lists. */
  async function asked(...flags: string[]) {
    proxy.requests.length = 0;
    const { code, json } = await sandbox.jackin(['status', '--json', ...flags], { env: proxy.env });
    expect(code).toBe(0);
    const { instances } = json().data as { instances: Record<string, string>[] };
    const inspections = proxy.requests.filter((one) => /^GET \/containers\/[0-9a-f]{64}\/json$/.test(one));
    const others = proxy.requests.filter((one) => !inspections.includes(one)).sort();
    return { instances, inspections, others };
  }

  const LISTS = [
    ...['GET /containers/json', 'GET /images/json', 'GET /info', 'GET /networks', 'GET /volumes'],
  ];

  test('is one list of containers and one of images, with one instance', async () => {
    const { instances, inspections, others } = await asked();
    expect(instances.map(({ instance_id, container }) => [instance_id, container])).toEqual([
      [first.id, 'stopped'],
    ]);
    expect(inspections).toHaveLength(1);
    expect(others.filter((one) => one !== 'GET /_ping')).toEqual(LISTS);
  });

  test(
    'is one list of containers and one of images, with fifty instances, in detail too',
    async () => {
      for (let at = 1; at < MANY; at += 1) await another();
      for (const flags of [[], ['--detail'], [first.id]]) {
        const { instances, inspections, others } = await asked(...flags);
        expect(instances).toHaveLength(flags[0] === first.id ? 1 : MANY);
        for (const row of instances) expect(row).toMatchObject({ status: 'stopped', container: 'stopped' });
        expect(inspections).toHaveLength(MANY);
        expect(others.filter((one) => one !== 'GET /_ping')).toEqual(LISTS);
      }
    },
    LIMIT,
  );

  test(
    'is asked no more often when the end of all fifty is recorded',
    async () => {
      for (const base of bases()) rewrite(base, running);
      const { instances, others } = await asked();
      expect(instances).toHaveLength(MANY);
      for (const row of instances) expect(row).toMatchObject({ status: 'stopped', container: 'stopped' });
      expect(others.filter((one) => one !== 'GET /_ping')).toEqual(LISTS);
      expect((await asked()).others.filter((one) => one !== 'GET /_ping')).toEqual(LISTS);
    },
    LIMIT,
  );

  const data = (): string => join(sandbox.state, 'data');
  const indexFile = (): string => join(data(), 'instances.json');
  const manifestFile = (base: string): string => join(data(), base, '.jackin/instance.json');
  const bases = (): string[] =>
    JSON.parse(readFileSync(indexFile(), 'utf8')).instances.map(
      (row: Record<string, string>) => row.container_base,
    );

  /** A copy of the first one's records under another name, with a stopped container. */
  async function another(): Promise<void> {
    const id = newInstanceId();
    const base = first.base.replace(first.id, id);
    sandbox.adopt({ id, base });
    const renamed = (text: string): string => text.replaceAll(first.id, id);
    mkdirSync(join(data(), base), { mode: 0o700 });
    for (const name of ['.jackin', 'state']) {
      cpSync(join(data(), first.base, name), join(data(), base, name), { recursive: true });
      chmodSync(join(data(), base, name), 0o700);
    }
    for (const name of [
      '.jackin/instance.json',
      '.jackin/agent.toml',
      'state/exit.json',
      'state/heartbeat.json',
    ]) {
      const file = join(data(), base, name);
      writeFileSync(file, renamed(readFileSync(file, 'utf8')), { mode: 0o600 });
    }
    const index = JSON.parse(readFileSync(indexFile(), 'utf8'));
    const [row] = index.instances;
    index.instances.push(JSON.parse(renamed(JSON.stringify(row))));
    writeFileSync(indexFile(), JSON.stringify(index));
    const { Config: config } = await sandbox.container(first).inspect();
    await engine().docker.createContainer({
      ...{ name: base, Image: config.Image, Cmd: ['true'], Entrypoint: [] },
      Labels: JSON.parse(renamed(JSON.stringify(config.Labels))),
    });
  }

  function rewrite(base: string, change: (manifest: Record<string, any>) => Record<string, any>): void {
    const file = manifestFile(base);
    writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')))));
  }

  /** As it was before somebody looked at its end. */
  function running({ exit_cause: _, last_attach_outcome: __, ...manifest }: Record<string, any>) {
    return { ...manifest, status: 'running' };
  }
});
