import { Doubt } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** An object somebody has a name for. */
export interface TypedObject {
  id: string;
  type: ObjectType | 'missing';
  /** What it is, or what a tag leads to in the end. */
  target: { id: string; type: ObjectType | 'missing' };
}

export interface ObjectTypes {
  /** In the order of the question. */
  tips: TypedObject[];
  /** Of those that may be gone. */
  missing: ReadonlySet<string>;
}

const LINE = /^([0-9a-f]{40,64}) (commit|tree|blob|tag)$/;

/**
 * One process for all of them.
 * @param sentinel a commit that has to be there
 * @throws Doubt when git does not answer for each
 */
export async function objectTypes(
  git: GitCalls,
  { tips, mayBeGone, sentinel }: { tips: readonly string[]; mayBeGone: readonly string[]; sentinel: string },
): Promise<ObjectTypes> {
  const asked = [...tips.flatMap((id) => [id, `${id}^{}`]), ...mayBeGone, sentinel];
  const output = await git.run(
    'git cat-file',
    ['cat-file', '--buffer', '--batch-check=%(objectname) %(objecttype)'],
    { input: Buffer.from(asked.map((name) => `${name}\n`).join('')) },
  );
  const lines = output.toString('latin1').split('\n');
  if (lines.pop() !== '' || lines.length !== asked.length)
    throw new Doubt('git cat-file did not answer completely');
  const answers = lines.map((line, at) => answerOf(line, asked[at] ?? ''));
  if (answers.at(-1)?.type !== 'commit') throw new Doubt('git cat-file answered for another repository');
  const nothing = { id: '', type: 'missing' } as const;
  return {
    tips: tips.map((id, at) => ({
      id,
      type: answers[2 * at]?.type ?? 'missing',
      target: answers[2 * at + 1] ?? nothing,
    })),
    missing: new Set(mayBeGone.filter((_, at) => answers[2 * tips.length + at]?.type === 'missing')),
  };
}

function answerOf(line: string, asked: string): TypedObject['target'] {
  if (line === `${asked} missing`) return { id: asked, type: 'missing' };
  const [, id, type] = LINE.exec(line) ?? [];
  if (id === undefined || (!asked.endsWith('^{}') && id !== asked)) {
    throw new Doubt('git cat-file answered something else');
  }
  return { id, type: type as ObjectType };
}
