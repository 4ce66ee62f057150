import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from '@jackin/core';
import type { DockerLab } from '../docker-lab/index.ts';
import type { Subject } from './subject.ts';

const LIMIT_MS = 300_000;

/** `jackin resume` of a session in the shipped `shell` role, from the start of the command to its end. */
export async function jackinSubject(lab: DockerLab, cli: string): Promise<Subject> {
  // The engine's directory goes when the engine goes, also after a bench that was killed.
  const [home, state, config, project] = ['home', 'state', 'config', 'project'].map((name) =>
    join(lab.dir, 'bench', name),
  ) as [string, string, string, string];
  for (const dir of [home, config, project]) mkdirSync(dir, { recursive: true });
  const env = {
    ...{ PATH: process.env.PATH ?? '', HOME: home, SHELL: '/bin/sh' },
    ...{ JACKIN_HOME_DIR: state, JACKIN_CONFIG_DIR: config, ...lab.env },
  };
  const jackin = async (...args: string[]) => {
    const all = [cli, ...args, '--detach', '--json'];
    const { stdout, exitCode } = await runProcess(process.execPath, all, {
      timeoutMs: LIMIT_MS,
      cwd: project,
      env,
    });
    const text = stdout.toString();
    if (exitCode !== 0) throw new Error(`jackin ${args.join(' ')} ended with ${exitCode}: ${text}`);
    return JSON.parse(text).data;
  };
  const load = ['load', 'shell', project, '--agent', 'shell', '--new', '--backend', 'docker'];
  const { instance_id: id, container_base: base } = await jackin(...load);
  const container = lab.docker.getContainer(base);
  return {
    name: 'jackin resume',
    image: (await container.inspect()).Image,
    async prepare(one) {
      if (one === 1) await container.kill();
      if (one === 2) await container.remove({ force: true });
    },
    async comeBack(one) {
      const { tier, status } = await jackin('resume', id);
      if (tier !== one || status !== 'running') throw new Error(`tier ${tier} (${status}) instead of ${one}`);
    },
  };
}
