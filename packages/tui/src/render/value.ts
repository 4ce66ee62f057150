/** A configured value on one line, much as its file says it. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (value === null || typeof value !== 'object') return String(value);
  const entries = Object.entries(value).map(([key, item]) => `${key} = ${valueText(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
