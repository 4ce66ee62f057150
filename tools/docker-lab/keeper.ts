import { createServer } from 'node:net';
import { type ProcessIdentity, processState } from '@jackin/core';
import { startLab } from './index.ts';
import { type KeeperAnswer, keeperAddress } from './keeper-address.ts';
import type { DockerLab } from './lab.ts';

/** The run is no child of the keeper: the kernel offers nothing to wait on. */
const LOOK_MS = 500;

keep(JSON.parse(process.argv[2] ?? '') as ProcessIdentity);

/** Holds an engine for the process `run` and everybody who connects meanwhile; removes it when `run` is gone. */
function keep(run: ProcessIdentity): void {
  let lab: Promise<DockerLab>;
  const server = createServer(async (connection) => {
    connection.on('error', () => {});
    const answer: KeeperAnswer = await lab.then(
      ({ dir }) => ({ dir }),
      (error) => ({ error: String(error) }),
    );
    connection.end(JSON.stringify(answer));
  });
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    // Another one keeps an engine for this run.
    process.stdout.write('taken\n', () => process.exit(0));
  });
  server.listen(keeperAddress(run), () => {
    lab = startLab();
    process.stdout.write('listening\n');
    const look = setInterval(async () => {
      if ((await processState(run)) === 'dead') await end();
    }, LOOK_MS);
    const end = async () => {
      clearInterval(look);
      await lab.then((started) => started.dispose()).catch(() => {});
      process.exit(0);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end);
  });
}
