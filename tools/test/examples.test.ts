import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bootId } from '@jackin/core';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const EXAMPLE = fileURLToPath(new URL('../../docs/examples/plan-a-restore.ts', import.meta.url));
const BASE = 'jk-k7p9m2xq-shell';

let state: string;

/** Runs it as a program outside of this repository would: against the built packages, without the command line. */
const run = (...args: string[]) =>
  execFileSync(process.execPath, [EXAMPLE, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: state, JACKIN_HOME_DIR: state },
  });

beforeAll(async () => {
  state = mkdtempSync(join(tmpdir(), 'jk-example-'));
  const meta = join(state, 'data', BASE, '.jackin');
  mkdirSync(meta, { recursive: true });
  const boot = await bootId();
  writeFileSync(join(meta, 'instance.json'), JSON.stringify(manifest(state, boot)));
  mkdirSync(join(state, 'data', BASE, 'state'));
  writeFileSync(join(state, 'data', BASE, 'state/heartbeat.json'), JSON.stringify(heartbeat(boot)));
});

afterAll(() => rmSync(state, { recursive: true, force: true }));

test('The library example prints the plan that would bring a lost instance back', () => {
  const lines = run().trimEnd().split('\n');
  expect(lines[0]).toBe(`${BASE}  crashed, capsule_crash`);
  expect(lines).toContain('  does not return: live_processes');
  expect(lines.find((line) => line.startsWith('  tier 1, returns: '))).toBeDefined();
  const steps = lines.filter((line) => /^ {2}\d+\. /.test(line)).map((line) => line.replace(/^ +\d+\. /, ''));
  expect(steps).toEqual(expect.arrayContaining(['write_agent_config', 'start_container', 'start_session']));
});

test('The library example changes nothing', () => {
  const before = readdirSync(state, { recursive: true }).sort();
  run('k7p9m2xq');
  expect(readdirSync(state, { recursive: true }).sort()).toEqual(before);
});

/** An instance whose supervisor died in this boot: its process has another start time than the one recorded. */
function manifest(workdir: string, boot: string): unknown {
  return {
    version: 2,
    instance_id: 'k7p9m2xq',
    container_base: BASE,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    workspace_name: null,
    workspace_label: workdir,
    workdir,
    host_workdir_fingerprint: 'sha256:0',
    role_key: 'shell',
    role_display_name: 'Shell',
    agent_runtime: 'shell',
    image_tag: 'standalone',
    status: 'running',
    backend: { standalone: { pid: process.pid, start_time: '1', boot_id: boot } },
    engine: { endpoint: 'standalone', run: boot },
    docker: { role_container: BASE, network: `${BASE}-net` },
    recipe: {
      version: 1,
      backend: 'standalone',
      image_tag: 'standalone',
      role: { source: 'builtin:shell' },
      mounts: [{ src: workdir, dst: workdir, isolation: 'shared', readonly: false }],
      env: [],
      run: {},
      agent: { id: 'shell', argv: ['/bin/sh'] },
      workdir,
    },
  };
}

/** Its last sign of life: the agent was alive. */
function heartbeat(boot: string): unknown {
  const session = { session_id: 's1', agent: 'shell', alive: true, pid: process.pid };
  const at = '2026-01-01T00:00:05.000Z';
  return { version: 1, instance_id: 'k7p9m2xq', boot_id: boot, at, pid: process.pid, sessions: [session] };
}
