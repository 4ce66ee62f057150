import type Docker from 'dockerode';

const PING_MS = 2_000;

/** Asks the engine whether it is there. @throws Error why it does not answer within two seconds. */
export async function ping(docker: Docker): Promise<void> {
  const options = { abortSignal: AbortSignal.timeout(PING_MS) };
  // dockerode takes options here; its types do not know them.
  await (docker.ping as (options: object) => Promise<unknown>).call(docker, options);
}
