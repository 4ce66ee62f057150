import { parseArgs } from 'node:util';
import { JackinError } from '@jackin/core';

export interface CapsuleArguments {
  config: string;
  state: string;
  socket: string;
  readyFd: number | null;
  /** One line on stderr when it listens. */
  announce: boolean;
  instanceId: string;
}

/** @throws JackinError `USAGE` (exit code 2) */
export function parseCapsuleArguments(args: string[], env: NodeJS.ProcessEnv): CapsuleArguments {
  const { config, state, socket, 'ready-fd': readyFd, announce = false } = parse(args);
  const instanceId = env.JACKIN_INSTANCE;
  if (config === undefined || state === undefined || socket === undefined) {
    throw usage('--config FILE, --state DIR and --socket PATH are needed.');
  }
  if (readyFd !== undefined && !/^[0-9]{1,6}$/.test(readyFd))
    throw usage(`--ready-fd ${readyFd} is no descriptor.`);
  if (instanceId === undefined || instanceId === '') throw usage('JACKIN_INSTANCE must name the instance.');
  return {
    config,
    state,
    socket,
    readyFd: readyFd === undefined ? null : Number(readyFd),
    announce,
    instanceId,
  };
}

interface Values {
  config?: string;
  state?: string;
  socket?: string;
  'ready-fd'?: string;
  announce?: boolean;
}

function parse(args: string[]): Values {
  const text = { type: 'string' } as const;
  const announce = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args,
      options: { config: text, state: text, socket: text, 'ready-fd': text, announce },
    }).values;
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
}

function usage(message: string): JackinError {
  return new JackinError({
    code: 'USAGE',
    message,
    hint: 'Usage: JACKIN_INSTANCE=ID capsule --config FILE --state DIR --socket PATH [--ready-fd N] [--announce]',
    exitCode: 2,
  });
}
