import { existsSync, readFileSync } from 'node:fs';

/** One line of the event journal (JACKIN_LOG). */
export interface JournalLine {
  at: string;
  pid: number;
  type: string;
  [field: string]: any;
}

/** Every complete line; a line that is just being written is left for the next look. */
export function readJournal(file: string): JournalLine[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

export function lockLines(lines: JournalLine[], path: string, state: string): JournalLine[] {
  return lines.filter((line) => line.type === 'lock' && line.path === path && line.state === state);
}

/** `kind/step id` of every step that began, in order. */
export function stepsBegun(lines: JournalLine[]): string[] {
  const kinds = new Map<string, string>();
  return lines.flatMap((line) => {
    if (line.type === 'plan') kinds.set(line.plan_id, line.kind);
    return line.type === 'step' && line.state === 'started'
      ? [`${kinds.get(line.plan_id)}/${line.step_id}`]
      : [];
  });
}
