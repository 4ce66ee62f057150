import { createAttach } from '@jackin/capsule/attach';
import { combineSinks, createJournal, type EventSink, resolvePaths, systemClock } from '@jackin/core';
import { createJackin, createStandaloneBackend, type Jackin } from '@jackin/runtime';
import { createPlainPrompts, createReporter, isCi, wantsColor } from '@jackin/tui';
import { capsuleProgram } from './capsule-program.ts';
import type { CliContext } from './context.ts';
import { dockerBackend, shippedRoles } from './docker-backend.ts';
import { version } from './version.ts';

export interface OpenOptions {
  debug: boolean;
  /** Scripts read stdout: nobody is asked and nothing but the document is printed. */
  json: boolean;
}

/** The real parts, put together for one command line. */
export function openJackin(context: CliContext, options: OpenOptions): Jackin {
  const { stdin, stdout, stderr, env, cwd } = context;
  const paths = resolvePaths(env);
  const events = eventSink(context, options);
  const color = wantsColor(stderr, env);
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
  return createJackin({
    paths,
    env,
    cwd,
    events,
    clock: systemClock,
    prompts: createPlainPrompts({ stdin, output: stderr, env, color, mayAsk: !options.json && !isCi(env) }),
    attach: createAttach({ stdin, stdout, env, events }),
    terminal: isTerminal ? { size: () => ({ cols: stdout.columns, rows: stdout.rows }) } : null,
    backends: [
      dockerBackend({ paths, env, events }),
      createStandaloneBackend({ paths, capsuleProgram: capsuleProgram(), clock: systemClock, events, env }),
    ],
    ...(shippedRoles === undefined ? {} : { shippedRoles }),
    clientName: `jackin ${version}`,
  });
}

function eventSink({ stderr, env }: CliContext, { debug, json }: OpenOptions): EventSink {
  const reporter = createReporter({
    write: (text) => void stderr.write(text),
    color: wantsColor(stderr, env),
    debug,
    progress: !json,
  });
  const journal = env.JACKIN_LOG;
  return journal === undefined || journal === '' ? reporter : combineSinks(createJournal(journal), reporter);
}
