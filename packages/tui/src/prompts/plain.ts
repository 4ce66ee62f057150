import type {
  CandidateRow,
  ConfirmView,
  EndView,
  PreservedView,
  Prompts,
  SessionChoice,
  SessionChoiceView,
  SessionIdentityView,
  UnfinishedView,
} from '@jackin/runtime';
import { lines, painter, printable } from '../text.ts';
import { type AskTerminal, askLine } from './ask.ts';

export interface PlainPromptsOptions extends AskTerminal {
  /** False when nobody may be asked although there is a terminal (`--json`, CI). */
  mayAsk: boolean;
}

interface Option<T> {
  /** A word that may be typed instead of the number. */
  word: string;
  label: string;
  value: T;
}

/**
 * The questions as plain text: everything in full, numbered choices, one line of input. No answer (Ctrl-C, end of
 * input, terminal gone) is never a decision: `abort`, `null` or `false`, which callers treat as keep.
 */
export function createPlainPrompts(options: PlainPromptsOptions): Prompts {
  const paint = painter(options.color);
  const say = (...parts: (string | string[] | null)[]) => void options.output.write(lines(...parts));
  const title = (text: string) => `\n${paint('bold', 'jackin❯')}  · ${printable(text)}\n`;

  async function choose<T>(choices: Option<T>[]): Promise<T | null> {
    say(choices.map((choice, at) => `  ${at + 1}. ${printable(choice.label)}`));
    for (;;) {
      const answer = await askLine(options, `Choose 1-${choices.length} [1]`);
      if (answer === null) return null;
      const found = pick(choices, answer.trim());
      if (found !== undefined) return found.value;
      say(`Type a number from 1 to ${choices.length}, or press Ctrl-C to leave everything as it is.`);
    }
  }

  return {
    available: options.mayAsk && options.stdin.isTTY === true && options.output.isTTY === true,
    acknowledgeUnfinished: async (view: UnfinishedView) => {
      say(title('session ended'), identity(view.session), '', unfinishedLines(view), '');
      const answer = await askLine(options, 'Press Enter to continue, Ctrl-C to keep everything');
      return answer === null ? 'abort' : 'continue';
    },
    chooseEnd: async (view: EndView) => {
      say(title('session ended'), identity(view.session), printable(view.headline), '');
      const picked = await choose<'return' | 'keep' | 'clean'>([
        { word: 'return', label: 'Return to agent - keep working in this session now', value: 'return' },
        { word: 'keep', label: 'Exit and keep - preserve everything, resume later', value: 'keep' },
        { word: 'clean', label: `Exit and clean up - delete ${list(view.removes)}`, value: 'clean' },
      ]);
      return picked ?? 'abort';
    },
    chooseSession: async (view: SessionChoiceView) => {
      const { role, agent, workspace } = view.session;
      say(title('resume or start new'), printable(`${role} (${agent}) · workspace ${workspace}`), '');
      return (await choose(sessionOptions(view.candidates))) ?? { choice: 'abort' };
    },
    verifyPreserved: async (view: PreservedView) => {
      say(
        title(`resume ${view.session.container_base}`),
        identity(view.session),
        '',
        mountLines(view.mounts),
        view.notes.map(printable),
        view.cannot_return.length === 0 ? null : `Cannot return: ${view.cannot_return.join(', ')}`,
        '',
      );
      const answer = await askLine(options, 'Press Enter to resume, type b to go back');
      return answer === null || /^b(ack)?$/i.test(answer.trim()) ? 'back' : 'resume';
    },
    confirm: async (view: ConfirmView) => {
      say(
        title(view.title),
        view.removes.length === 0
          ? null
          : ['This removes:', ...view.removes.map((text) => `  - ${printable(text)}`)],
        view.warnings.map((text) => paint('yellow', printable(text))),
      );
      const { mustType } = view;
      const question = mustType === undefined ? 'Go ahead? [y/N]' : `Type ${mustType} to go ahead`;
      const answer = (await askLine(options, question))?.trim();
      return mustType === undefined ? /^y(es)?$/i.test(answer ?? '') : answer === mustType;
    },
    chooseInstance: async (view) => {
      say(title(view.title));
      return await choose(
        view.rows.map((row) => ({ word: row.instance_id, label: rowLabel(row), value: row.instance_id })),
      );
    },
  };
}

function pick<T>(choices: Option<T>[], answer: string): Option<T> | undefined {
  if (answer === '') return choices[0];
  if (/^\d+$/.test(answer) && choices[Number(answer) - 1] !== undefined) return choices[Number(answer) - 1];
  const matching = choices.filter(({ word }) => word.startsWith(answer.toLowerCase()));
  return matching.length === 1 ? matching[0] : undefined;
}

function sessionOptions(candidates: CandidateRow[]): Option<SessionChoice>[] {
  const start: Option<SessionChoice> = { word: 'new', label: 'Start new session', value: { choice: 'new' } };
  return [
    start,
    ...candidates.flatMap((row) => {
      const resume: Option<SessionChoice> = {
        word: row.instance_id,
        label: `Resume  ${rowLabel(row)}`,
        value: { choice: 'resume', instance_id: row.instance_id },
      };
      const finish: Option<SessionChoice> = {
        word: `finish ${row.instance_id}`,
        label: `Finish  ${row.instance_id} · it ended; decide now whether to keep or clean it up`,
        value: { choice: 'finish', instance_id: row.instance_id },
      };
      return row.exit_pending ? [resume, finish] : [resume];
    }),
  ];
}

function rowLabel(row: CandidateRow): string {
  return [row.instance_id, row.age, row.what, row.readiness].filter((part) => part !== '').join(' · ');
}

function identity(session: SessionIdentityView): string {
  return printable(
    `${session.role} (${session.agent}) · workspace ${session.workspace} · ${session.container_base}`,
  );
}

function unfinishedLines(view: UnfinishedView): string[] {
  const count = view.mounts.length;
  return [
    `This session has unfinished work in ${count} isolated mount${count === 1 ? '' : 's'}.`,
    ...mountLines(view.mounts),
  ];
}

function mountLines(mounts: UnfinishedView['mounts']): string[] {
  return mounts.flatMap((mount) => [
    '',
    `  ${mount.kind}  ${printable(mount.mount_dst)}  ${mount.verdict}`,
    ...mount.lines.map((line) => `    ${printable(line)}`),
  ]);
}

function list(items: string[]): string {
  return items.length === 0 ? 'all instance state' : items.join(', ');
}
