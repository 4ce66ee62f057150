import type { EngineClient } from './engine.ts';
import { engineInfo } from './lists.ts';

/** What engines call architectures (`uname -m`, or Go's words), in Node's. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'x64',
  amd64: 'x64',
  aarch64: 'arm64',
  arm64: 'arm64',
};

/**
 * The architecture containers run on, in Node's words; one without a Node of ours as the engine says it.
 * An engine that does not say is taken to be like this machine.
 * @throws JackinError what asking the engine throws
 */
export async function engineArch(engine: EngineClient, signal: AbortSignal): Promise<string> {
  return archOf((await engineInfo(engine, signal)).Architecture);
}

export function archOf(said: string | null | undefined, own: string = process.arch): string {
  return said ? (ARCHITECTURES[said] ?? said) : own;
}
