import type { Ground } from './generate.ts';
import { runHistory } from './history.ts';
import type { Answer, Order, Report } from './run.ts';
import type { SessionTree } from './world.ts';

/** Makes histories in a small process of its own: starting a git from a large one takes several times as long. */
process.on('message', (message: Order | Answer) => {
  if ('seed' in message) void take(message);
  else answered?.(message);
});

process.on('disconnect', () => process.exit());

let answered: ((answer: Answer) => void) | null = null;

async function take({ seed, kind, opens, keepFiles }: Order): Promise<void> {
  try {
    const result = await runHistory(seed, {
      kind,
      keepFiles,
      exit: async (tree) => (await ask({ exit: tree })).why ?? '',
      ...(opens ? { open } : {}),
    });
    tell({ done: result });
  } catch (error) {
    tell({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

async function open({ git: _git, random: _random, ...ground }: Ground): Promise<SessionTree> {
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
  process.send?.(report);
}
