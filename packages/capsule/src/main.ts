import { closeSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { bootId, toJackinError } from '@jackin/core';
import { type CapsuleMessage, READY_LINE } from './protocol/index.ts';
import { parseProxyArguments, runProxy } from './proxy.ts';
import { readAgentConfig } from './supervisor/agent-config.ts';
import { type CapsuleArguments, parseCapsuleArguments } from './supervisor/arguments.ts';
import { createCapsule } from './supervisor/capsule.ts';
import { removeStaleCgroups } from './supervisor/cgroup-names.ts';
import { serveConnection } from './supervisor/connection.ts';
import { readExistingRecord } from './supervisor/exit-records.ts';
import { createLog, type Log, reasonOf } from './supervisor/log.ts';
import { bindSocket } from './supervisor/socket.ts';
import { openStateDir } from './supervisor/state-dir.ts';
import { loadNativePty } from './terminal/native-pty.ts';

const HEARTBEAT_MS = 5000;
const SIGNAL_GRACE_MS = 5000;
const FINISH_LIMIT_MS = 2000;
const MAX_CONNECTIONS = 64;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The supervisor of one instance (README). */
async function main(args: CapsuleArguments, log: Log): Promise<void> {
  const { instanceId } = args;
  const config = await readAgentConfig(args.config, instanceId);
  loadNativePty();
  const identity = { instanceId, bootId: await bootId(), capsuleKey: config.capsule_key };
  const state = openStateDir(args.state, log);
  const existing = await readExistingRecord(state, instanceId);
  let exitCode = 0;
  let finishing = false;

  const capsule = createCapsule({
    ...identity,
    state,
    existing,
    primaryAgent: config.session?.agent ?? null,
    log,
    onFinished: () => void finish(),
  });
  const server = await bindSocket(args.socket, (stream) => {
    const full = capsule.connections.size >= MAX_CONNECTIONS;
    const connection = serveConnection({ stream, identity, handlers: capsule, log });
    if (!full) return capsule.connected(connection);
    connection.sendMessage(tooMany());
    connection.close();
  });

  // Only now is it certain that no other capsule of this instance lives.
  removeStaleCgroups(instanceId);

  async function finish(): Promise<void> {
    if (finishing) return;
    finishing = true;
    clearInterval(heartbeat);
    capsule.beat();
    server.close();
    setTimeout(() => process.exit(exitCode), FINISH_LIMIT_MS);
    const closing = Promise.withResolvers<void>();
    server.once('close', closing.resolve);
    for (const connection of capsule.connections) connection.close();
    await Promise.all([closing.promise, state.settled()]);
    process.exit(exitCode);
  }

  async function stopFor(signal: (typeof SIGNALS)[number]): Promise<void> {
    try {
      await capsule.stop({ endedBy: 'signal', capsuleSignal: signal, graceMs: SIGNAL_GRACE_MS });
    } finally {
      await finish();
    }
  }

  for (const signal of SIGNALS) {
    process.on(signal, () => {
      exitCode = 128 + constants.signals[signal];
      void stopFor(signal);
    });
  }
  const heartbeat = setInterval(() => capsule.beat(), HEARTBEAT_MS);
  capsule.beat();
  if (args.readyFd !== null) tellReady(args.readyFd, log);
  if (args.announce) process.stderr.write(`${READY_LINE}\n`);
}

/** Whoever waited may have gone; the descriptor must not reach the sessions. */
function tellReady(fd: number, log: Log): void {
  try {
    try {
      writeSync(fd, 'ready\n');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    log(`nobody takes the news that the capsule is ready: ${reasonOf(error)}`);
  }
}

function tooMany(): CapsuleMessage {
  const message = `${MAX_CONNECTIONS} clients are connected already.`;
  return { type: 'failure', request_id: null, error: { code: 'TOO_MANY_CONNECTIONS', message } };
}

const log = createLog();
// The sessions are worth more than a clean state of whatever failed here.
process.on('uncaughtException', (error) => log(`unexpected: ${error.stack ?? error.message}`));
process.on('unhandledRejection', (error) => log(`unexpected: ${reasonOf(error)}`));
try {
  const [mode, ...rest] = process.argv.slice(2);
  if (mode === 'proxy') {
    await runProxy(parseProxyArguments(rest));
    process.exit(0);
  }
  await main(parseCapsuleArguments(process.argv.slice(2), process.env), log);
} catch (thrown) {
  const error = toJackinError(thrown);
  log(`${error.code}: ${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}`);
  process.exit(error.exitCode);
}
