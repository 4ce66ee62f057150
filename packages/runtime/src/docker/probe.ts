import type { Duplex } from 'node:stream';
import type { InstanceRef, ProbeAnswer } from '../backend.ts';
import { engineFor, requireContainer } from './acting.ts';
import { userOf } from './container-user.ts';
import { withSignal } from './engine.ts';
import { createFrameReader } from './frames.ts';
import type { DockerDeps } from './options.ts';

const PROBE_MS = 60_000;
const OUTPUT_BYTES = 4_096;

/**
 * Runs a program in the instance's running container, as its user and without a terminal, and waits for its end.
 * @throws JackinError `CONTAINER_MISSING`, `NAME_TAKEN_BY_FOREIGN`, and as `EngineClient.call`: also for a container
 *   that has ended
 */
export async function probe(
  deps: DockerDeps,
  ref: InstanceRef,
  { argv, cwd, env }: { argv: readonly string[]; cwd: string; env: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const engine = await engineFor(deps, ref, signal);
  const { Id: id } = await requireContainer(engine, ref, signal);
  const { uid, gid } = userOf(ref.manifest.recipe);
  const what = `Running ${argv[0]} in ${ref.container_base}`;
  return engine.call(what, { signal, timeoutMs: PROBE_MS }, async (docker, inner) => {
    const exec = await docker.getContainer(id).exec({
      Cmd: [...argv],
      User: `${uid}:${gid}`,
      WorkingDir: cwd,
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      abortSignal: inner,
    });
    const output = await outputOf(await exec.start(withSignal(inner, { hijack: true })), inner);
    const ended = (await exec.inspect(withSignal(inner))) as unknown as { ExitCode?: number | null };
    return { exit_code: ended.ExitCode ?? null, output };
  });
}

async function outputOf(raw: Duplex, signal: AbortSignal): Promise<string> {
  let kept = Buffer.alloc(0);
  const onAbort = (): void => void raw.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  const read = createFrameReader(
    (_stream, bytes) => {
      kept = Buffer.concat([kept, bytes]).subarray(-OUTPUT_BYTES);
    },
    (reason) => raw.destroy(new Error(reason)),
  );
  try {
    await new Promise<void>((resolve, reject) => {
      raw.on('data', read);
      raw.once('end', resolve);
      raw.once('close', resolve);
      raw.once('error', reject);
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
    raw.destroy();
  }
  signal.throwIfAborted();
  return kept.toString('utf8');
}
