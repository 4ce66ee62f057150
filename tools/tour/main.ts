import { spawn } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TourFailure } from './check.ts';
import { removeAbandonedTours } from './remove.ts';
import { say } from './say.ts';
import { createScratch } from './scratch.ts';
import { NoSessionOnDocker, runStory, type StoryOptions } from './story.ts';

const USAGE = `npm run tour [-- --cli FILE]

Runs jackin's main job with the real command line in a scratch directory: start a session, work in it,
lose it, get it back, keep it, get it back again, clean up. Every answer and every file is checked.
With a container engine of this machine that answers it runs there, else with the standalone backend; it
says which and why. What a tour that was killed has left is removed by the next one.

  --cli FILE   the command line to tour (default: the bundle that npm run build makes)
  --build      run npm run build first

Exit code 0 when every check held, 1 when one did not, 128 + N when signal N ended it.
`;

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const SIGNAL_EXITS = { SIGHUP: 129, SIGINT: 130, SIGPIPE: 141, SIGTERM: 143 } as const;
type EndingSignal = keyof typeof SIGNAL_EXITS;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { cli: { type: 'string' }, build: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (values.build && !(await build())) return 1;
  const startedAtMs = performance.now();
  const interrupted = new AbortController();
  for (const signal of Object.keys(SIGNAL_EXITS)) process.on(signal, () => interrupted.abort(signal));
  // Nobody reads any more (`| head`): that ends a tour too, and what it started must not outlive it.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', () => interrupted.abort('SIGPIPE'));
  const cli = values.cli ? resolve(values.cli) : resolve(REPOSITORY, 'apps/jackin/dist/bundle/bin.js');

  const swept = await removeAbandonedTours();
  if (swept.removed.length > 0) say(`swept    ${swept.removed.join(', ')}, left by a tour that was killed`);
  if (swept.left.length > 0)
    say(`swept    not everything of a tour that was killed: ${swept.left.join(', ')}`);
  const tour = { cli, cliName: relative(process.cwd(), cli), signal: interrupted.signal };
  let end = await tell(tour);
  if (end.noDocker !== null) {
    say(`\n!! No session can be started on Docker here, so the tour starts over with standalone:`);
    say(`   ${end.noDocker}\n`);
    end = await tell({
      ...tour,
      standaloneBecause: 'the engine cannot start a session of the role, see above',
    });
  }
  const { code, leftovers, stays } = end;
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  if (leftovers.length > 0) {
    say(`\nThe tour could not remove ${leftovers.join(', ')} (${seconds} s).`);
    return code === 0 ? 1 : code;
  }
  const verdict = code === 0 ? 'The tour is complete: every check held, and nothing' : 'Nothing';
  const but = stays.length === 0 ? '' : ` but ${stays.join(', ')}`;
  say(`\n${verdict} is left behind${but} (${seconds} s).`);
  return code;
}

interface End {
  code: number;
  leftovers: string[];
  /** What stays on purpose. */
  stays: string[];
  /** Why there was no story: the engine could not start a session. */
  noDocker: string | null;
}

/** One telling in a scratch directory of its own, which is gone afterwards. */
async function tell(options: Omit<StoryOptions, 'scratch'>): Promise<End> {
  const scratch = await createScratch();
  const end: End = { code: 1, leftovers: [], stays: [], noDocker: null };
  try {
    end.stays = await runStory({ ...options, scratch });
    end.code = 0;
  } catch (error) {
    if (options.signal.aborted) {
      const signal = options.signal.reason as EndingSignal;
      say(`\nInterrupted by ${signal}.`);
      end.code = SIGNAL_EXITS[signal];
    } else if (error instanceof NoSessionOnDocker) end.noDocker = error.message;
    else if (error instanceof TourFailure) say(`\nThe tour failed: ${error.message}`);
    else throw error;
  } finally {
    end.leftovers = await scratch.dispose();
  }
  return end;
}

/** Quiet unless it fails. The signal handlers are not up yet: an interrupt ends both processes. */
async function build(): Promise<boolean> {
  const child = spawn('npm', ['run', 'build', '--silent'], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => output.push(data));
  const code = await new Promise((settle, reject) => child.on('error', reject).on('close', settle));
  if (code !== 0) process.stderr.write(Buffer.concat(output));
  return code === 0;
}
