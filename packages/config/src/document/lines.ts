/** A part of a text, as offsets; `end` is behind it. */
export interface Span {
  start: number;
  end: number;
}

/** The lines of a text, counted from 1 as editors do. */
export interface Lines {
  readonly count: number;
  /** The line an offset lies in. */
  of(offset: number): number;
  start(line: number): number;
  /** Behind the line's end-of-line characters. */
  end(line: number): number;
  /** Without the end of line. */
  content(line: number): string;
  /** What ends the line; the text's own habit when the line is the unfinished last one. */
  ending(line: number): string;
}

export function linesOf(text: string): Lines {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const habit = /\r?\n/.exec(text)?.[0] ?? '\n';
  const start = (line: number) => starts[line - 1] ?? text.length;
  const raw = (line: number) => text.slice(start(line), start(line + 1));
  return {
    count: starts.length,
    of(offset) {
      let [low, high] = [0, starts.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if ((starts[middle] as number) <= offset) low = middle;
        else high = middle - 1;
      }
      return low + 1;
    },
    start,
    end: (line) => start(line + 1),
    content: (line) => raw(line).replace(/\r?\n$/, ''),
    ending: (line) => /\r?\n$/.exec(raw(line))?.[0] ?? habit,
  };
}

export interface Splice extends Span {
  text: string;
}

/** Applies replacements that do not overlap, except for removals, which may. */
export function splice(text: string, splices: readonly Splice[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text: replacement } of [...splices].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, Math.max(at, start)) + replacement;
    at = Math.max(at, end);
  }
  return result + text.slice(at);
}
