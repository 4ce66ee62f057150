import { spawn } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TourFailure } from './check.ts';
import { createScratch } from './scratch.ts';
import { runStory, type StoryOptions } from './story.ts';

const USAGE = `npm run tour [-- --cli FILE]

Runs jackin's main job with the real command line in a scratch directory: start a session, work in it,
lose it, get it back, keep it, get it back again, clean up. Every answer and every file is checked.

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

  const scratch = createScratch();
  let code: number;
  let leftovers: string[];
  try {
    code = await tell({
      scratch,
      cli,
      cliName: relative(process.cwd(), cli),
      signal: interrupted.signal,
    });
  } finally {
    leftovers = await scratch.dispose();
  }
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  if (leftovers.length > 0) {
    process.stdout.write(`\nThe tour could not remove ${leftovers.join(', ')} (${seconds} s).\n`);
    return code === 0 ? 1 : code;
  }
  const verdict = code === 0 ? 'The tour is complete: every check held, and nothing' : 'Nothing';
  process.stdout.write(`\n${verdict} is left behind (${seconds} s).\n`);
  return code;
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

async function tell(options: StoryOptions): Promise<number> {
  try {
    await runStory(options);
    return 0;
  } catch (error) {
    if (options.signal.aborted) {
      const signal = options.signal.reason as EndingSignal;
      process.stdout.write(`\nInterrupted by ${signal}.\n`);
      return SIGNAL_EXITS[signal];
    }
    if (!(error instanceof TourFailure)) throw error;
    process.stdout.write(`\nThe tour failed: ${error.message}\n`);
    return 1;
  }
}
