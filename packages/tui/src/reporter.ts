import type { EventSink, JackinEvent } from '@jackin/core';
import { duration, type Paint, painter, printable } from './text.ts';

export interface ReporterOptions {
  write(text: string): void;
  color: boolean;
  /** Plans, steps, locks and debug events too. */
  debug: boolean;
  /** Progress lines (`stage` events). Off for commands whose answer comes at once. */
  progress: boolean;
}

/** Turns events into lines of talk: one line per finished stage, notices always, the rest with `--debug`. */
export function createReporter(options: ReporterOptions): EventSink {
  const paint = painter(options.color);
  return (event) => {
    const line = lineOf(event, options, paint);
    if (line !== null) options.write(`${line}\n`);
  };
}

function lineOf(event: JackinEvent, options: ReporterOptions, paint: Paint): string | null {
  switch (event.type) {
    case 'notice':
      return event.level === 'warn'
        ? paint('yellow', `warning: ${printable(event.message)}`)
        : `note: ${printable(event.message)}`;
    case 'stage':
      return options.progress || options.debug ? stageLine(event, options.debug, paint) : null;
    case 'lock':
      return lockLine(event, options.debug);
    case 'plan':
      return options.debug ? `debug: plan ${event.kind} ${event.state}, ${event.steps} steps` : null;
    case 'step':
      return options.debug ? `debug: step ${event.op} ${event.state}${detail(event.detail)}` : null;
    case 'debug':
      return options.debug ? `debug: ${printable(event.message)}${fields(event.fields)}` : null;
  }
}

function stageLine(
  event: Extract<JackinEvent, { type: 'stage' }>,
  debug: boolean,
  paint: Paint,
): string | null {
  const took = event.elapsed_ms === undefined ? '' : ` (${duration(event.elapsed_ms)})`;
  if (event.state === 'done') return `  ${paint('green', 'done')} ${printable(event.stage)}${took}`;
  if (event.state === 'failed')
    return `  ${paint('red', 'failed')} ${printable(event.stage)}${took}${detail(event.detail)}`;
  return debug ? `  ${printable(event.stage)} ...` : null;
}

function lockLine(event: Extract<JackinEvent, { type: 'lock' }>, debug: boolean): string | null {
  const owner =
    event.owner === undefined
      ? ''
      : ` (held by process ${event.owner.pid}: ${printable(event.owner.purpose)})`;
  if (event.state === 'waiting') return `waiting for another jackin${owner}`;
  if (event.state === 'taken_over') return `note: took over the lock of a process that is gone${owner}`;
  return debug ? `debug: lock ${event.path} ${event.state}${owner}` : null;
}

function detail(text: string | undefined): string {
  return text === undefined ? '' : `: ${printable(text)}`;
}

function fields(values: Record<string, unknown> | undefined): string {
  return values === undefined ? '' : ` ${printable(JSON.stringify(values))}`;
}
