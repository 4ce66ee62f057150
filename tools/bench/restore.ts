import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { labAvailability, startLab } from '../docker-lab/index.ts';
import { find } from '../docker-lab/machine.ts';
import { devcontainerSubject } from './devcontainer.ts';
import { engineSubject } from './engine-subject.ts';
import { jackinSubject } from './jackin-subject.ts';
import { describeMachine, median, table } from './report.ts';
import { CASES, type Case, type Subject } from './subject.ts';

const USAGE = `npm run bench:restore [-- --rounds N] [-- --cli FILE]

How long it takes until a session is back, on a private engine that is removed afterwards: jackin resume against the
bare calls of the engine's interface, and against "devcontainer up" where that program is installed. Prints a table of
medians. Nothing fails for being slow.

  --rounds N   how often each is measured, in turns (default 7)
  --cli FILE   the command line to measure (default: the bundle that npm run build makes)
`;

const BUNDLE = fileURLToPath(new URL('../../apps/jackin/dist/bundle/bin.js', import.meta.url));

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '7' },
      cli: { type: 'string', default: BUNDLE },
      help: { type: 'boolean' },
    },
  });
  const rounds = Number(values.rounds);
  if (values.help || !Number.isInteger(rounds) || rounds < 1) {
    (values.help ? process.stdout : process.stderr).write(USAGE);
    return values.help ? 0 : 2;
  }
  const available = await labAvailability();
  if (!available.ok) {
    process.stderr.write(`No private engine can run here: ${available.reason}\n`);
    return 1;
  }
  await using lab = await startLab();
  const subjects: Subject[] = [await jackinSubject(lab, values.cli)];
  subjects.push(await engineSubject(lab, subjects[0] as Subject));
  const devcontainer = find('devcontainer');
  if (devcontainer !== null)
    subjects.push(await devcontainerSubject(lab, devcontainer, subjects[0] as Subject));
  const measured = await measure(subjects, rounds);
  process.stdout.write(`${await describeMachine(lab, rounds)}\n\n${table(subjects, measured)}\n`);
  if (devcontainer === null) {
    process.stdout.write(
      '\n"devcontainer up" was not measured: the program devcontainer is not installed.\n',
    );
  }
  return 0;
}

/** In turns, so that whatever else the machine does meets all of them. The first round warms up and does not count. */
async function measure(subjects: Subject[], rounds: number): Promise<Map<Subject, Record<Case, number>>> {
  const times = new Map(
    subjects.map((subject) => [subject, { 0: [], 1: [], 2: [] } as Record<Case, number[]>]),
  );
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of CASES) {
      for (const subject of subjects) {
        await subject.prepare(one);
        const startedMs = performance.now();
        await subject.comeBack(one);
        if (round > 0) times.get(subject)?.[one].push(performance.now() - startedMs);
      }
    }
    process.stderr.write(round === 0 ? 'warmed up\n' : `round ${round} of ${rounds}\n`);
  }
  return new Map(
    [...times].map(([subject, byCase]) => [
      subject,
      { 0: median(byCase[0]), 1: median(byCase[1]), 2: median(byCase[2]) },
    ]),
  );
}
