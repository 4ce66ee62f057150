import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type DockerLab, findLab, labAvailability, startLab } from './index.ts';
import { ping } from './ping.ts';

const USAGE = `npm run docker-lab -- VERB [DIR]

A private Docker engine to try things on, and to break. It stays until "down" or the next boot.

  up            start an engine, or start it again; DIR becomes a link to its files
  env           print how to reach it: eval "$(npm run --silent docker-lab -- env)"
  power-cut     everything dies at once
  engine-crash  the engine dies, the containers do not notice
  engine-stop   the engine stops as the machine's services do
  start         start it again after any of these
  down          end everything and remove it

DIR is ${join(tmpdir(), 'jackin-lab')} if it is not given.
`;

const VERBS: Record<string, (lab: DockerLab) => Promise<void>> = {
  env: async () => {},
  start: (lab) => lab.start(),
  'power-cut': (lab) => lab.powerCut(),
  'engine-crash': (lab) => lab.engineCrash(),
  'engine-stop': (lab) => lab.engineStop(),
  down: (lab) => lab.dispose(),
};

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const [verb = '', dir = join(tmpdir(), 'jackin-lab')] = positionals;
  const known = verb === 'up' || Object.hasOwn(VERBS, verb);
  if (values.help || !known || positionals.length > 2) {
    (values.help ? process.stdout : process.stderr).write(USAGE);
    return values.help ? 0 : 2;
  }
  try {
    const lab = verb === 'up' ? await up(dir) : await findLab(dir);
    await VERBS[verb]?.(lab);
    if (['up', 'start', 'env'].includes(verb))
      process.stdout.write(`export DOCKER_HOST=${lab.env.DOCKER_HOST}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
}

async function up(dir: string): Promise<DockerLab> {
  const existing = await findLab(dir).catch(() => null);
  if (existing === null) {
    const available = await labAvailability();
    if (!available.ok) throw new Error(`No private engine: ${available.reason}`);
    return startLab({ dir, owner: null });
  }
  const answers = await ping(existing.docker).then(
    () => true,
    () => false,
  );
  if (!answers) await existing.start();
  return existing;
}
