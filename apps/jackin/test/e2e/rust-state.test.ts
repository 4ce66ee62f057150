import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { snapshot } from './support/evidence.ts';
import { gitRole } from './support/git-role.ts';
import { hasNotes, killInstance, writeNotes } from './support/instance.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

const MINUTES = 60_000;
const SAMPLE = fileURLToPath(new URL('../../../../fixtures/rust-state/', import.meta.url));
const ID = 'k7p9m2xq';
const BASE = `jk-${ID}-proj-thearchitect`;

let sandbox: Sandbox;
/** Where the sample's workspace lies on this machine. */
let operator: string;
/** The repository of its role. */
let role: { url: string; commit: string };

/** The sample state of the Rust jackin, with fields added that nobody knows, and its paths on this machine. */
beforeEach(() => {
  sandbox = createSandbox();
  // 1Password's program is not on this machine; this one answers in its place.
  const bin = join(sandbox.root, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'op'), '#!/bin/sh\necho a-value\n', { mode: 0o755 });
  Object.assign(sandbox.env, { GH_HOST: 'github.example', PATH: `${bin}:${sandbox.env.PATH}` });
  operator = join(sandbox.root, 'op');
  mkdirSync(join(operator, 'proj'), { recursive: true });
  mkdirSync(join(operator, 'notes'));
  cpSync(join(SAMPLE, 'data'), join(sandbox.state, 'data'), { recursive: true });
  // As any jackin leaves it; a looser one is tightened by the first lock.
  chmodSync(join(sandbox.state, 'data'), 0o700);
  cpSync(join(SAMPLE, 'config'), sandbox.config, { recursive: true });
  for (const path of ['config.toml', 'workspaces/proj.toml']) {
    change(
      join(sandbox.config, path),
      (text) =>
        `${text.replaceAll('/home/op', operator).replace('https://example.test/', `file://${sandbox.root}/`)}\n[of_another_version]\nnote = "kept"\n`,
    );
  }
  role = gitRole(join(sandbox.root, 'jackin-the-architect.git'), ['claude', 'shell']);
  for (const name of ['instance', 'isolation']) {
    change(inData(`${BASE}/.jackin/${name}.json`), (text) =>
      text
        .replace('{', '{\n  "unknown_first": 1.0,')
        .replace(/\n\}\s*$/, ',\n  "unknown_last": [1e3, null]\n}\n'),
    );
  }
  change(inData('instances.json'), (text) =>
    text
      .replace('"version": 1,', '"version": 1,\n  "unknown_top": {"b": 1, "a": 2},')
      .replace('"status": "preserved_dirty",', '"unknown_in_row": "x",\n      "status": "preserved_dirty",'),
  );
});
afterEach(() => sandbox.dispose());

const inData = (path: string) => join(sandbox.state, 'data', path);

function change(path: string, edit: (text: string) => string): void {
  const before = readFileSync(path, 'utf8');
  const after = edit(before);
  expect(after).not.toBe(before);
  writeFileSync(path, after);
}

const everything = () => [...snapshot(sandbox.state), ...snapshot(sandbox.config)];
const ofTheSample = () => snapshot(inData(BASE));

describe('the state of the Rust jackin', () => {
  test(
    'is listed with its status and an honest word about its engine, and looking changes no byte',
    async () => {
      const before = everything();
      const status = await sandbox.jackin(['status', '--json']);
      expect(status.code).toBe(0);
      const { instances, corrupt, engine, notices } = status.json().data;
      expect(corrupt).toEqual([]);
      expect(instances).toHaveLength(1);
      expect(instances[0]).toMatchObject({
        instance_id: ID,
        container_base: BASE,
        workspace: 'proj',
        workdir: '/workspace/proj',
        role: 'the-architect',
        agent: 'claude',
        status: 'preserved_dirty',
        cause: null,
        container: 'engine unreachable',
        backend: 'docker',
        evidence: [expect.stringMatching(/^engine unreachable: unix:.*no-engine\.sock: /)],
        isolated: [{ mount_dst: '/workspace/proj', kind: 'worktree', verdict: 'unknown' }],
        since: '2026-07-01T17:40:02Z',
      });
      // What it lives on is not passed off as what was reached.
      expect(engine).toMatchObject([
        { endpoint: sandbox.env.DOCKER_HOST, state: 'unreachable' },
        { endpoint: 'standalone', state: 'reachable' },
      ]);
      expect(notices.map(({ code }: { code: string }) => code)).not.toContain('CONFIG_PROBLEM');

      const text = await sandbox.jackin(['status', ID.slice(0, 3), '--detail', '--size']);
      expect(text.code).toBe(0);
      for (const word of [ID, 'preserved_dirty', 'engine unreachable', 'no-engine.sock', 'worktree']) {
        expect(text.stdout).toContain(word);
      }
      const doctor = await sandbox.jackin(['doctor', '--json']);
      const { findings } = doctor.json().data;
      expect(findings).toContainEqual(
        expect.objectContaining({
          check: 'docker.endpoint',
          severity: 'error',
          message: expect.stringContaining('no-engine.sock'),
        }),
      );
      expect(findings).toContainEqual(expect.objectContaining({ check: 'records', severity: 'ok' }));
      expect(everything()).toEqual(before);
    },
    MINUTES,
  );

  test(
    'is neither resumed nor ended while its engine is away: every verb says why and changes nothing but locks',
    async () => {
      const records = () => everything().filter((entry) => !/\.lock |\/locks\.db /.test(entry));
      // The operator's own files are brought up to date by the first command.
      expect((await sandbox.jackin(['workspace', 'list'])).code).toBe(0);
      const before = records();
      for (const args of [
        ['resume', ID, '--detach'],
        ['resume', ID, '--detach', '--accept-loss', '--allow-drift'],
        ['resume', ID, '--dry-run'],
        ['load', 'the-architect', 'proj', '--agent', 'claude', '--instance', ID, '--detach'],
        ['stop', ID],
        ['stop', ID, '--clean'],
        ['stop', ID, '--keep'],
        ['purge', ID, '--yes'],
        ['purge', ID, '--force'],
        ['purge', ID, '--dry-run'],
        ['eject', ID],
        ['eject', BASE, '--dry-run'],
      ]) {
        const refused = await sandbox.jackin([...args, '--json']);
        expect([args, refused.code]).toEqual([args, 1]);
        const { code, message, hint } = refused.json().error;
        expect([args, code]).toEqual([args, 'ENGINE_UNREACHABLE']);
        expect(message).toContain(`The engine ${BASE} lives on`);
        expect(hint).toContain('Start the engine');
      }
      const exile = await sandbox.jackin(['exile', '--yes', '--json']);
      expect([exile.code, exile.json().data]).toEqual([0, { ejected: [], failed: [] }]);
      expect(records()).toEqual(before);
    },
    2 * MINUTES,
  );

  test(
    'stays as it is, row and all, while other sessions come and go beside it',
    async () => {
      const files = ofTheSample();
      const [row] = JSON.parse(readFileSync(inData('instances.json'), 'utf8')).instances;
      const text = readFileSync(inData('instances.json'), 'utf8');
      const other = await sandbox.loadShell(['sleep', '1000']);
      writeNotes(sandbox, other);
      await killInstance(other);
      expect((await sandbox.jackin(['status'])).code).toBe(0);

      const index = JSON.parse(readFileSync(inData('instances.json'), 'utf8'));
      // Newest first, and in each row the fields in the order they had.
      expect(index.instances.map((one: any) => one.instance_id)).toEqual([other.id, ID]);
      expect(index.unknown_top).toEqual({ b: 1, a: 2 });
      expect(Object.entries(index.instances[1])).toEqual(Object.entries(row));
      expect((await sandbox.jackin(['resume', other.id, '--detach'])).code).toBe(0);
      expect(hasNotes(sandbox, other)).toBe(true);
      expect((await sandbox.jackin(['purge', other.id, '--yes'])).code).toBe(0);

      expect(ofTheSample()).toEqual(files);
      expect(JSON.parse(readFileSync(inData('instances.json'), 'utf8'))).toEqual(JSON.parse(text));
      expect(readdirSync(join(sandbox.state, 'data')).sort()).toEqual(
        ['instances.json', 'instances.json.lock', BASE, 'locks.db'].sort(),
      );
    },
    2 * MINUTES,
  );
});

describe('the configuration of the Rust jackin', () => {
  const dryRun = ['load', 'the-architect', 'proj', '--backend', 'standalone', '--dry-run', '--json'];

  test(
    'asks for a worktree, and still does: it is not shared quietly',
    async () => {
      // The operator's own files are brought up to date by the first command.
      const { code, json } = await sandbox.jackin(['workspace', 'list', '--json']);
      const [proj] = json().data.workspaces[0].mounts;
      expect([code, proj]).toMatchObject([0, { dst: '/workspace/proj', isolation: 'worktree' }]);
      const before = everything();
      // Its role is not there, so no plan is made; none that shares it is made either.
      const planned = await sandbox.jackin([...dryRun, '--new'], { cwd: join(operator, 'proj') });
      expect([planned.code, planned.json().data]).toEqual([1, undefined]);
      expect(everything()).toEqual(before);
    },
    MINUTES,
  );

  test(
    'is read as it was meant: roles, agent, mounts, references, and no value of a variable on demand',
    async () => {
      const shared = [...dryRun, '--mount-isolation', '/workspace/proj=shared'];
      const undecided = await sandbox.jackin(shared);
      expect([undecided.code, undecided.json().error.code]).toEqual([3, 'DECISION_NEEDED']);
      expect(undecided.json().error.details.candidates).toMatchObject([{ instance_id: ID }]);
      const unknown = await sandbox.jackin([...shared, '--new']);
      expect([unknown.code, unknown.json().error.code]).toEqual([1, 'ROLE_NOT_FETCHED']);
      const args = ['load', 'the-architect', sandbox.project, '--agent', 'shell', '--backend', 'standalone'];
      const real = await sandbox.jackin([...args, '--new', '--detach', '--json', '--', 'true']);
      expect(real.code).toBe(0);
      const { code, json } = await sandbox.jackin([...shared, '--new']);
      expect(code).toBe(0);
      const create = json().data.plan.steps.find(({ op }: { op: string }) => op === 'create_instance');
      expect(create.manifest).toMatchObject({
        workspace_name: 'proj',
        role_key: 'the-architect',
        role_source_git: role.url,
        role_git_sha: role.commit,
        agent_runtime: 'claude',
      });
      const { mounts, env } = create.manifest.recipe;
      expect(mounts).toMatchObject([
        { src: join(operator, 'proj'), dst: '/workspace/proj', isolation: 'shared', readonly: false },
        { src: join(operator, 'notes'), dst: '/workspace/notes', isolation: 'shared', readonly: true },
      ]);
      expect(env).toEqual([
        { name: 'GH_HOST', source: '$GH_HOST' },
        expect.objectContaining({
          name: 'API_KEY',
          source: expect.stringContaining('op://vault/item/field'),
        }),
      ]);
      const refused = await sandbox.jackin(['load', 'shell', 'proj', '--dry-run', '--json']);
      expect([refused.code, refused.json().error.code]).toEqual([1, 'ROLE_NOT_ALLOWED']);
    },
    MINUTES,
  );

  test(
    'ends sessions as it says: discard is clean everywhere, and keep of the workspace wins',
    async () => {
      const start = async (args: string[]) => {
        const all = [...args, '--agent', 'shell', '--backend', 'standalone', '--detach', '--json', '--new'];
        const { stdout, json } = await sandbox.jackin(['load', ...all, '--', 'sleep', '1000']);
        expect(stdout).toContain('instance_id');
        const { instance_id: id, container_base: base } = json().data;
        return { id, base };
      };
      const shared = ['--mount-isolation', '/workspace/proj=shared'];
      const ofTheWorkspace = await start(['the-architect', 'proj', ...shared]);
      const kept = await sandbox.jackin(['stop', ofTheWorkspace.id, '--json']);
      expect([kept.code, kept.json().data]).toMatchObject([
        0,
        { outcome: 'kept', status: 'restore_available', policy: { value: 'keep', source: 'workspace' } },
      ]);
      const elsewhere = await start(['the-architect', sandbox.project]);
      const cleaned = await sandbox.jackin(['stop', elsewhere.id, '--json']);
      expect([cleaned.code, cleaned.json().data]).toMatchObject([
        0,
        { outcome: 'cleaned', policy: { value: 'clean', source: 'global' } },
      ]);
      expect(await sandbox.traces(elsewhere)).toEqual([]);
    },
    MINUTES,
  );
});
