import { type ErrorDocument, toJackinError } from './errors.ts';

/** The one document a `--json` command prints on success. */
export interface SuccessDocument<T> {
  schema_version: 'v1';
  data: T;
}

/** The one document a `--json` command prints on failure, usage errors included. */
export interface FailureDocument {
  schema_version: 'v1';
  error: ErrorDocument;
}

/**
 * Wraps a command's result. `data` is not redacted: it is made of names and states that scripts compare, and a
 * secret such as `main` would corrupt them. Who puts foreign text into it (log tails, reasons) redacts that text.
 */
export function successDocument<T>(data: T): SuccessDocument<T> {
  return { schema_version: 'v1', data };
}

/** Wraps any thrown value; what is not a JackinError becomes `INTERNAL`. Redacted by the error itself. */
export function errorDocument(error: unknown): FailureDocument {
  return { schema_version: 'v1', error: toJackinError(error).toJSON() };
}
