/**
 * JSON text as it was written: members in their order, scalars as their own text. A rewrite through it keeps what
 * `JSON.parse` would lose of fields we do not know: large numbers, escapes, the order of number-like keys.
 */
export type JsonNode =
  | { kind: 'scalar'; text: string }
  | { kind: 'array'; items: JsonNode[] }
  | { kind: 'object'; members: [key: string, value: JsonNode][] };

const MAX_DEPTH = 500;
const TOKEN = /\s*([{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+)/y;

/**
 * @param text JSON that `JSON.parse` accepts
 * @throws SyntaxError for other text, or one nested deeper than 500 levels
 */
export function parseJsonNode(text: string): JsonNode {
  let offset = 0;
  const next = (): string => {
    TOKEN.lastIndex = offset;
    const match = TOKEN.exec(text);
    if (match === null) throw new SyntaxError(`unexpected end of JSON at ${offset}`);
    offset = TOKEN.lastIndex;
    return match[1] as string;
  };
  const value = (token: string, depth: number): JsonNode => {
    if (depth > MAX_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
    if (token === '[') return { kind: 'array', items: list(']', (first) => value(first, depth + 1)) };
    if (token !== '{') return { kind: 'scalar', text: token };
    const members = list('}', (key): [string, JsonNode] => {
      next();
      return [JSON.parse(key), value(next(), depth + 1)];
    });
    return { kind: 'object', members };
  };
  const list = <T>(end: string, item: (first: string) => T): T[] => {
    const items: T[] = [];
    for (let token = next(); token !== end; token = next()) items.push(item(token === ',' ? next() : token));
    return items;
  };
  return value(next(), 0);
}

/**
 * `node` with what differs between `before` and `after`: equal values keep their text, changed ones are replaced
 * where they stand, removed members go, new ones come last. Members that only `before` and `after` have in common
 * (defaults filled in while reading) are not added.
 */
export function applyChange(node: JsonNode, before: unknown, after: unknown): JsonNode {
  if (sameJson(before, after)) return node;
  if (node.kind === 'array' && Array.isArray(before) && Array.isArray(after)) {
    const items = after.map((item, index) => {
      const old = node.items[index];
      return old === undefined ? toJsonNode(item) : applyChange(old, before[index], item);
    });
    return { kind: 'array', items };
  }
  if (node.kind !== 'object' || !isObject(before) || !isObject(after)) return toJsonNode(after);
  const members: [string, JsonNode][] = [];
  const known = new Set<string>();
  for (const [key, member] of node.members) {
    known.add(key);
    const [old, item] = [own(before, key), own(after, key)];
    const removed = old !== undefined && item === undefined;
    if (!removed) members.push([key, applyChange(member, old, item)]);
  }
  for (const [key, item] of Object.entries(after)) {
    const added = !known.has(key) && item !== undefined && !sameJson(own(before, key), item);
    if (added) members.push([key, toJsonNode(item)]);
  }
  return { kind: 'object', members };
}

/** Two spaces per level, a newline at the end. */
export function formatJsonNode(node: JsonNode): string {
  return `${format(node, '')}\n`;
}

/** Whether two values are the same JSON: the order of members is not a difference, nor is an undefined one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
    sameJson(own(a, key), own(b, key)),
  );
}

function format(node: JsonNode, indent: string): string {
  if (node.kind === 'scalar') return node.text;
  const inner = `${indent}  `;
  const lines =
    node.kind === 'array'
      ? node.items.map((item) => inner + format(item, inner))
      : node.members.map(([key, item]) => `${inner}${JSON.stringify(key)}: ${format(item, inner)}`);
  const [open, close] = node.kind === 'array' ? ['[', ']'] : ['{', '}'];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

function toJsonNode(value: unknown): JsonNode {
  return parseJsonNode(JSON.stringify(value));
}

/** A member may be named like something every object inherits. */
function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
