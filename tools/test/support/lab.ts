import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import { BASE_IMAGE, type DockerLab } from '../../docker-lab/index.ts';

const LAB = new URL('../../docker-lab/', import.meta.url);
const REPOSITORY = new URL('../../../', import.meta.url);

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Writes into its own layer and waits: deaf to SIGTERM unless an init hands it on, or ending with 0 at once. */
export async function startWorkload(
  lab: Pick<DockerLab, 'docker'>,
  options: { init: boolean; trapsTerm: boolean; network?: string },
): Promise<Docker.Container> {
  const wait = options.trapsTerm ? 'while :; do sleep 0.05; done' : 'exec sleep infinity';
  const onTerm = options.trapsTerm ? 'trap "exit 0" TERM; ' : '';
  const container = await lab.docker.createContainer({
    Image: BASE_IMAGE,
    Cmd: ['bash', '-c', `${onTerm}echo kept > /opt/layer; echo ready; ${wait}`],
    // Seconds from SIGTERM to SIGKILL.
    StopTimeout: 1,
    HostConfig: { Init: options.init, NetworkMode: options.network ?? 'default' },
  });
  const output = await container.attach({ stream: true, stdout: true });
  await container.start();
  await once(output, 'data');
  (output as unknown as Readable).destroy();
  return container;
}

/** What this machine has of a lab: looked for by other means than the lab's own. */
export function tracesOf({ dir }: Pick<DockerLab, 'dir'>): string[] {
  const name = basename(dir);
  const commandLines = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(commandLine);
  const cgroups = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'].map((root) => join(root, name));
  const rules = execFileSync('iptables-save', { encoding: 'utf8', env: { PATH: '/usr/sbin:/sbin' } });
  const traces = {
    cgroup: cgroups.some((cgroup) => existsSync(cgroup)),
    directory: readdirSync(dirname(dir)).some((entry) => entry === name || entry.startsWith(`${name}.`)),
    interface: existsSync(`/sys/class/net/${name}`),
    mount: readFileSync('/proc/self/mountinfo', 'utf8').includes(`${dir}/`),
    process: commandLines.some((line) => line.includes(`${dir}/`)),
    rule: rules.includes(name),
  };
  return Object.entries(traces).flatMap(([trace, there]) => (there ? [trace] : []));
}

/** Runs `script` in a process of its own, where `LAB/` is the Docker lab, until its first line of output. */
export async function runScript(script: string): Promise<{ child: ChildProcess; line: string }> {
  const source = script.replaceAll('LAB/', LAB.href);
  const args = ['--conditions=@jackin/source', '--input-type=module', '--eval', source];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let seen = '';
  for await (const part of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    seen += part;
    if (seen.includes('\n')) break;
  }
  return { child, line: seen.trim() };
}

/** Runs the lab's program to its end. */
export function runProgram(...args: string[]): Promise<Finished> {
  const program = fileURLToPath(new URL('main.ts', LAB));
  return finished(
    spawn(process.execPath, ['--conditions=@jackin/source', program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** Runs one test file with this repository's jest; `LAB/` is the Docker lab. */
export async function runJest(testFile: string, env: Record<string, string>): Promise<Finished> {
  const dir = mkdtempSync(join(tmpdir(), 'jk-jest-'));
  try {
    const config = `import preset from '${new URL('jest.preset.js', REPOSITORY)}';
export default { ...preset, rootDir: '${fileURLToPath(REPOSITORY)}', roots: ['${dir}'], testMatch: ['${dir}/*.test.ts'] };`;
    writeFileSync(join(dir, 'jest.config.mjs'), config);
    writeFileSync(join(dir, 'one.test.ts'), testFile.replaceAll('LAB/', fileURLToPath(LAB)));
    const jest = fileURLToPath(new URL('node_modules/jest/bin/jest.js', REPOSITORY));
    const child = spawn(process.execPath, ['--experimental-vm-modules', jest, '--verbose'], {
      cwd: dir,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return await finished(child);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function finished(child: ChildProcessByStdio<null, Readable, Readable>): Promise<Finished> {
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
