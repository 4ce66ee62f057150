import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AttachInPty, type AttachInPtyOptions, startAttachInPty } from './attach-in-pty.ts';
import { type FakeCapsule, type FakeCapsuleOptions, startFakeCapsule } from './fake-capsule.ts';

/** A fake capsule and the attach program in a pseudo-terminal, in a directory of their own. */
export interface Lab extends AsyncDisposable {
  capsule: FakeCapsule;
  terminal: AttachInPty;
  before: { settings: string; state: Record<string, unknown> };
}

export async function startLab(
  options: Omit<AttachInPtyOptions, 'dir' | 'socket'> & { capsule?: FakeCapsuleOptions } = {},
): Promise<Lab> {
  const dir = await mkdtemp(join(tmpdir(), 'jackin-attach-'));
  const socket = join(dir, 'capsule.sock');
  const capsule = await startFakeCapsule(socket, options.capsule);
  const terminal = await startAttachInPty({ ...options, dir, socket });
  return {
    capsule,
    terminal,
    before: { settings: terminal.settings(), state: terminal.emulator.state() },
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      await capsule[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The settings and modes of the terminal are what they were before attach. */
export function terminalNow({ terminal }: Lab): Lab['before'] {
  return { settings: terminal.settings(), state: terminal.emulator.state() };
}
