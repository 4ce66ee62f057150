import { readlink, stat } from 'node:fs/promises';
import { JackinError, readFileBounded, toJackinError } from '@jackin/core';
import { type Candidate, type Discovery, discover, type ReadFile } from './discovery.ts';
import { createEngineClient, type EngineClient, type Signalled, withSignal } from './engine.ts';

/** An engine that is there answers at once; one that is silent must not hold anybody up. */
const PROBE_MS = 2_000;
const FILE_MAX_BYTES = 1_048_576;

export interface Rejected {
  source: string;
  endpoint: string;
  reason: string;
}

export type Choice =
  | { state: 'chosen'; engine: EngineClient; source: string; rejected: Rejected[]; problems: string[] }
  | { state: 'none'; endpoint: string; reason: string; rejected: Rejected[]; problems: string[] };

export interface Connector {
  /** The engine that answers now. The one chosen last is asked first; the others only when it does not answer. */
  choose(signal: AbortSignal): Promise<Choice>;
  /** The same for a call that needs one. @throws JackinError `ENGINE_UNREACHABLE` with every reason */
  engine(signal: AbortSignal): Promise<EngineClient>;
}

/** Finds the engine for one backend object. Nothing is looked at before the first call. */
export function createConnector(env: NodeJS.ProcessEnv, read: ReadFile = readSmallFile): Connector {
  let last: Extract<Choice, { state: 'chosen' }> | null = null;

  async function choose(signal: AbortSignal): Promise<Choice> {
    const known = new Map<string, string>();
    if (last !== null) {
      const reason = await probe(last.engine, signal);
      if (reason === null) return last;
      known.set(last.engine.endpoint, reason);
      last = null;
    }
    const choice = await chooseAmong(await discover(env, read), known, signal);
    if (choice.state === 'chosen') last = choice;
    return choice;
  }

  return {
    choose,
    async engine(signal) {
      const choice = await choose(signal);
      if (choice.state === 'chosen') return choice.engine;
      throw new JackinError({
        code: 'ENGINE_UNREACHABLE',
        message: `No container engine answers: ${choice.reason}`,
        hint: 'Start the engine, or look at the endpoints with `jackin doctor`; then run the same command again.',
        details: { endpoint: choice.endpoint, rejected: choice.rejected },
      });
    },
  };
}

/**
 * All are asked at once, so that a silent one costs its bound only once; the first in order wins.
 * @param known what was just found out about an endpoint
 */
async function chooseAmong(
  discovery: Discovery,
  known: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<Choice> {
  const { candidates, problems } = discovery;
  const decided = new AbortController();
  const either = AbortSignal.any([signal, decided.signal]);
  const probes = candidates.map((candidate) => tryCandidate(candidate, known, either));
  for (const one of probes) one.catch(() => {});
  const rejected: Rejected[] = [];
  try {
    for (const [at, result] of probes.entries()) {
      const tried = await result;
      const { source, endpoint } = candidates[at] as Candidate;
      if ('engine' in tried) return { state: 'chosen', engine: tried.engine, source, rejected, problems };
      rejected.push({ source, endpoint, reason: tried.reason });
    }
    return { state: 'none', ...summary(discovery, rejected), rejected, problems };
  } finally {
    decided.abort();
  }
}

async function tryCandidate(
  candidate: Candidate,
  known: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<{ engine: EngineClient } | { reason: string }> {
  if ('rejected' in candidate) return { reason: candidate.rejected };
  const engine = createEngineClient(candidate.address);
  const reason = known.get(engine.endpoint) ?? (await probe(engine, signal));
  return reason === null ? { engine } : { reason };
}

/** Null when it answers, else why not. Throws only the signal's reason. */
async function probe(engine: EngineClient, signal: AbortSignal): Promise<string | null> {
  try {
    await engine.call('Looking for the engine', { signal, timeoutMs: PROBE_MS }, (docker, inner) =>
      (docker as unknown as Signalled).ping(withSignal(inner)),
    );
    return null;
  } catch (thrown) {
    signal.throwIfAborted();
    const dangling = await danglingLink(engine);
    return dangling ?? shortReason(toJackinError(thrown));
  }
}

async function danglingLink({ address }: EngineClient): Promise<string | null> {
  if (address.kind !== 'unix') return null;
  try {
    const target = await readlink(address.path);
    return await stat(address.path).then(
      () => null,
      () => `it is a link to ${target}, which is not there`,
    );
  } catch {
    return null;
  }
}

/** The endpoint is named beside it. */
function shortReason({ message }: JackinError): string {
  const at = message.indexOf('cannot be reached: ');
  if (at >= 0) return message.slice(at + 'cannot be reached: '.length);
  return message.replace(/^Looking for the engine: /, '');
}

function summary({ explicit }: Discovery, rejected: Rejected[]): { endpoint: string; reason: string } {
  const [first] = rejected;
  if (explicit && first) {
    return { endpoint: first.endpoint, reason: `${first.endpoint} (${first.source}): ${first.reason}` };
  }
  // Places where nothing is are not worth a line each while another one has more to say.
  const telling = rejected.filter(({ reason }) => !reason.includes('ENOENT'));
  const told = (telling.length > 0 ? telling : rejected.slice(0, 1)).map(
    ({ endpoint, reason }) => `${endpoint}: ${reason}`,
  );
  return { endpoint: 'docker', reason: told.join('; ') };
}

/** @throws JackinError as `readFileBounded` */
function readSmallFile(path: string): Promise<Buffer | null> {
  return readFileBounded(path, { maxBytes: FILE_MAX_BYTES, follow: true });
}
