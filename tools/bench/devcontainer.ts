import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from '@jackin/core';
import type { DockerLab } from '../docker-lab/index.ts';
import type { Subject } from './subject.ts';

const LIMIT_MS = 300_000;

/** `devcontainer up` for a workspace with the same image, from the start of the command to its end. */
export async function devcontainerSubject(lab: DockerLab, program: string, like: Subject): Promise<Subject> {
  const workspace = join(lab.dir, 'bench', 'devcontainer');
  mkdirSync(workspace, { recursive: true });
  const config = { name: 'bench', image: like.image, updateRemoteUserUID: false };
  writeFileSync(join(workspace, '.devcontainer.json'), JSON.stringify(config));
  const up = async (): Promise<string> => {
    const { stdout, stderr, exitCode } = await runProcess(program, ['up', '--workspace-folder', workspace], {
      timeoutMs: LIMIT_MS,
      env: { PATH: process.env.PATH ?? '', HOME: join(lab.dir, 'bench', 'home'), ...lab.env },
    });
    if (exitCode !== 0) throw new Error(`devcontainer up ended with ${exitCode}: ${stdout}${stderr}`);
    return JSON.parse(stdout.toString().trim().split('\n').at(-1) ?? '').containerId;
  };
  let id = await up();
  return {
    name: 'devcontainer up',
    image: like.image,
    async prepare(one) {
      if (one === 1) await lab.docker.getContainer(id).kill();
      if (one === 2) await lab.docker.getContainer(id).remove({ force: true });
    },
    async comeBack() {
      id = await up();
    },
  };
}
