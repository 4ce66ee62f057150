import { rmSync } from 'node:fs';
import type { Ground } from './ground.ts';
import { runHistory } from './history.ts';
import type { Answer, Order, Report } from './run.ts';
import { openWorkshop } from './workshop.ts';
import type { SessionTree } from './world.ts';

const [, , home = ''] = process.argv;
const workshop = openWorkshop(home);

/** Makes histories in a small process of its own: starting a git from a large one takes several times as long. */
process.on('message', (message: Order | Answer) => {
  if ('seed' in message) void take(message);
  else answered?.(message);
});

// Whoever started it has ended without ending it.
process.on('disconnect', () => {
  rmSync(home, { recursive: true, force: true });
  process.exit();
});

let answered: ((answer: Answer) => void) | null = null;

async function take({ seed, kind, opens, keepFiles }: Order): Promise<void> {
  try {
    const exit = async (tree: SessionTree) => (await ask({ exit: tree })).why ?? '';
    const result = await runHistory(seed, { kind, keepFiles, exit, ...(opens ? { open } : {}) }, workshop);
    tell({ done: result });
  } catch (error) {
    tell({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

async function open(ground: Ground): Promise<SessionTree> {
  const { tree } = await ask({ open: ground });
  if (tree === undefined) throw new Error('no tree was made');
  return tree;
}

function ask(report: Report): Promise<Answer> {
  return new Promise((resolve) => {
    answered = resolve;
    tell(report);
  });
}

function tell(report: Report): void {
  // Where nobody listens any more, `disconnect` says so.
  process.send?.(report, () => {});
}
