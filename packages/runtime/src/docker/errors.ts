import { JackinError } from '@jackin/core';

/** What the library attaches to an error answer. */
interface EngineAnswerError extends Error {
  statusCode?: number;
  json?: unknown;
}

const DOCTOR = 'Run `jackin doctor`, then the same command again.';

/**
 * Any failure of an engine call as a JackinError: `ENGINE_TIMEOUT`, `ENGINE_REFUSED` (an answer with an error status;
 * `details.status` and `details.engine_message`), else `ENGINE_UNREACHABLE`.
 */
export function engineFailure(
  thrown: unknown,
  call: { what: string; endpoint: string; timeoutMs: number },
): JackinError {
  const { what, endpoint, timeoutMs } = call;
  if (thrown instanceof JackinError && thrown.code === 'OUTSIDE_CALL_TIMEOUT') {
    return new JackinError({
      code: 'ENGINE_TIMEOUT',
      message: `${what}: the engine at ${endpoint} did not answer within ${timeoutMs} ms`,
      hint: DOCTOR,
      details: { endpoint },
      cause: thrown,
    });
  }
  const status = (thrown as EngineAnswerError | null)?.statusCode;
  if (typeof status === 'number') {
    const words = wordsOf(thrown as EngineAnswerError);
    return new JackinError({
      code: 'ENGINE_REFUSED',
      message: `${what}: the engine at ${endpoint} answered ${status}: ${words}`,
      hint: DOCTOR,
      details: { endpoint, status, engine_message: words },
      cause: thrown,
    });
  }
  return new JackinError({
    code: 'ENGINE_UNREACHABLE',
    message: `${what}: the engine at ${endpoint} cannot be reached: ${reasonOf(thrown)}`,
    hint: 'Start the engine, or look at the endpoints with `jackin doctor`; then run the same command again.',
    details: { endpoint },
    cause: thrown,
  });
}

/** The HTTP status of an engine's error answer; null for every other failure. */
export function statusOf(error: unknown): number | null {
  if (!(error instanceof JackinError) || error.code !== 'ENGINE_REFUSED') return null;
  return typeof error.details.status === 'number' ? error.details.status : null;
}

/** What the engine itself said; the error's own message where it said nothing. */
export function engineWords(error: unknown): string {
  if (error instanceof JackinError && typeof error.details.engine_message === 'string') {
    return error.details.engine_message;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Turns the answer 404 into `value`. */
export async function unless404<T, U>(call: Promise<T>, value: U): Promise<T | U> {
  try {
    return await call;
  } catch (error) {
    if (statusOf(error) === 404) return value;
    throw error;
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no socket',
  ECONNREFUSED: 'nothing listens there',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ECONNRESET: 'it closed the connection',
  ENOTSOCK: 'it is no socket',
  ENOTDIR: 'there is no socket',
  ELOOP: 'it is a link that leads nowhere',
};

/** An operating system's error in words an operator reads. */
function reasonOf(thrown: unknown): string {
  const code = (thrown as NodeJS.ErrnoException | null)?.code;
  if (typeof code === 'string' && code in REASONS) return `${REASONS[code]} (${code})`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The engine's JSON answer, else the library's text without its frame. Bounded: it ends in messages. */
function wordsOf(error: EngineAnswerError): string {
  const json = error.json as { message?: unknown } | null | undefined;
  const text = typeof json?.message === 'string' ? json.message : error.message;
  // The library puts the status before the engine's own words.
  const words = text.replace(/^\(HTTP code \d+\) [^-]* - /, '');
  return words.trim().slice(0, 2_000);
}

/** An engine that answers with something else than its interface says was not understood: that is never "not there". */
export function answerInvalid(what: string, cause: unknown): JackinError {
  return new JackinError({
    code: 'ENGINE_ANSWER_INVALID',
    message: `${what}: the engine gave an answer that makes no sense`,
    hint: 'Run `jackin doctor` to see which engine this is.',
    cause,
  });
}
