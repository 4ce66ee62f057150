/** One instruction of a Dockerfile: continuations joined, comments and here-documents left out. */
export interface Instruction {
  /** Upper case: `FROM`. */
  name: string;
  /** `--platform=…` and the like. */
  flags: string[];
  text: string;
  /** Counted from 1. */
  line: number;
}

export interface ParsedDockerfile {
  instructions: Instruction[];
  /** Only BuildKit understands those. */
  hasHereDocument: boolean;
  /** The last instruction ends in a continuation: what is written behind it would become part of it. */
  endsOpen: boolean;
}

export interface ImageReferences {
  /** Images from outside that the build reads, in order, each once; `scratch` is none. */
  refs: string[];
  /** The one the last stage stands on, through earlier stages; null for `scratch`. */
  final: string | null;
  stages: number;
}

/** Reads a Dockerfile as far as one must to know what it is built from. What is wrong with it is the builder's to say. */
export function parseDockerfile(text: string): ParsedDockerfile {
  const lines = text.split(/\r?\n/);
  const escapeChar = escapeOf(lines);
  const instructions: Instruction[] = [];
  let hasHereDocument = false;
  let open: { text: string; line: number } | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (/^\s*(#|$)/.test(line)) continue;
    const { content, continues } = splitContinuation(line, escapeChar);
    open = { text: (open?.text ?? '') + content, line: open?.line ?? at + 1 };
    if (continues) continue;
    const instruction = instructionOf(open);
    open = undefined;
    instructions.push(instruction);
    for (const { word, tabs } of hereDocuments(instruction)) {
      const end = lines.findIndex((body, i) => i > at && (tabs ? body.replace(/^\t+/, '') : body) === word);
      if (end === -1) continue;
      hasHereDocument = true;
      at = end;
    }
  }
  if (open !== undefined) instructions.push(instructionOf(open));
  return { instructions, hasHereDocument, endsOpen: open !== undefined };
}

/**
 * The images a build of it reads: every FROM and `COPY --from` that names no stage, with the arguments before the
 * first FROM put in.
 */
export function imageReferences(
  { instructions }: ParsedDockerfile,
  args: Record<string, string>,
): ImageReferences {
  const values = new Map<string, string>();
  const refs = new Set<string>();
  const stages: { name: string | null; base: string | null }[] = [];
  const stageOf = (name: string) => stages.find((stage) => stage.name === name.toLowerCase()) ?? null;
  for (const { name, text, flags } of instructions) {
    if (name === 'ARG' && stages.length === 0) {
      for (const [variable, value] of declarations(text)) {
        values.set(variable, args[variable] ?? substitute(value, values));
      }
    } else if (name === 'FROM') {
      const [image = '', as, alias] = text.trim().split(/\s+/);
      const ref = substitute(image, values);
      const stage = stageOf(ref);
      const base = stage === null ? external(ref) : stage.base;
      if (stage === null && base !== null) refs.add(base);
      stages.push({ name: as?.toUpperCase() === 'AS' ? (alias?.toLowerCase() ?? null) : null, base });
    } else if (name === 'COPY') {
      const from = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length);
      if (from === undefined || stageOf(from) !== null || /^\d+$/.test(from)) continue;
      const base = external(from);
      if (base !== null) refs.add(base);
    }
  }
  return { refs: [...refs], final: stages.at(-1)?.base ?? null, stages: stages.length };
}

const external = (ref: string) => (ref === '' || ref.toLowerCase() === 'scratch' ? null : ref);

/** Directives are the comments before anything else. */
function escapeOf(lines: string[]): string {
  for (const line of lines) {
    const directive = /^\s*#\s*([A-Za-z]+)\s*=\s*(\S+)\s*$/.exec(line);
    if (directive === null) return '\\';
    if (directive[1]?.toLowerCase() === 'escape' && directive[2] === '`') return '`';
  }
  return '\\';
}

function splitContinuation(line: string, escapeChar: string): { content: string; continues: boolean } {
  const trimmed = line.replace(/[ \t]+$/, '');
  // A doubled escape character is the character itself.
  const continues = trimmed.endsWith(escapeChar) && !trimmed.endsWith(escapeChar + escapeChar);
  return continues ? { content: trimmed.slice(0, -1), continues } : { content: line, continues };
}

function instructionOf({ text, line }: { text: string; line: number }): Instruction {
  const [, name = '', rest = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  const flags: string[] = [];
  const remaining = rest.replace(/^(--[a-z-]+(=\S*)?\s+)+/, (found) => {
    flags.push(...found.trim().split(/\s+/));
    return '';
  });
  return { name: name.toUpperCase(), flags, text: remaining, line };
}

function hereDocuments({ name, text }: Instruction): { word: string; tabs: boolean }[] {
  if (name !== 'RUN' && name !== 'COPY' && name !== 'ADD') return [];
  return [...text.matchAll(/(?:^|\s)\d*<<(-?)(["']?)([A-Za-z_]\w*)\2(?=\s|$)/g)].map((match) => ({
    word: match[3] ?? '',
    tabs: match[1] === '-',
  }));
}

function declarations(text: string): [string, string][] {
  return [...text.matchAll(/([A-Za-z_]\w*)(?:=("[^"]*"|'[^']*'|\S*))?/g)].map((match) => [
    match[1] ?? '',
    (match[2] ?? '').replace(/^(["'])([\s\S]*)\1$/, '$2'),
  ]);
}

function substitute(text: string, values: Map<string, string>): string {
  return text.replace(
    /\$\{(\w+)(?::([-+])([^}]*))?\}|\$(\w+)/g,
    (
      _,
      braced: string | undefined,
      operator: string | undefined,
      word: string | undefined,
      plain: string | undefined,
    ) => {
      const value = values.get(braced ?? plain ?? '') ?? '';
      if (operator === '-') return value === '' ? (word ?? '') : value;
      if (operator === '+') return value === '' ? '' : (word ?? '');
      return value;
    },
  );
}
