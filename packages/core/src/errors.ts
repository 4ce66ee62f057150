import { redact, redactDeep } from './redact.ts';

/** Exit codes of the CLI (docs/errors.md): 1 runtime error, 2 usage, 3 decision needed, 4 kept without choice. */
export type ExitCode = 1 | 2 | 3 | 4;

export interface JackinErrorOptions {
  /** Stable, upper snake case, e.g. `INSTANCE_NOT_FOUND`. Part of the public contract. */
  code: string;
  /** One sentence that names the offending value. */
  message: string;
  /** What to type or do next. */
  hint?: string;
  /** Machine-readable extras for `--json`. */
  details?: Record<string, unknown>;
  cause?: unknown;
  exitCode?: ExitCode;
}

/**
 * The one error an operator can meet. Text and JSON are printed from the same object, and every string in it
 * passes the redaction registry here, so no call site can forget it.
 */
export class JackinError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: Record<string, unknown>;
  readonly exitCode: ExitCode;

  constructor(options: JackinErrorOptions) {
    super(redact(options.message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'JackinError';
    this.code = options.code;
    this.hint = options.hint === undefined ? undefined : redact(options.hint);
    this.details = redactDeep(options.details ?? {}) as Record<string, unknown>;
    this.exitCode = options.exitCode ?? 1;
  }

  toJSON(): ErrorDocument {
    return { code: this.code, message: this.message, hint: this.hint ?? null, details: this.details };
  }
}

/** The `error` member of a `--json` document. */
export interface ErrorDocument {
  code: string;
  message: string;
  hint: string | null;
  details: Record<string, unknown>;
}

/** Any thrown value as a JackinError; what is not ours becomes `INTERNAL` with the original as its cause. */
export function toJackinError(thrown: unknown): JackinError {
  if (thrown instanceof JackinError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new JackinError({
    code: 'INTERNAL',
    message: `Unexpected failure: ${text}`,
    hint: 'Run the command again with --debug and report the output.',
    cause: thrown,
  });
}
