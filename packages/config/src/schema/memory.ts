const UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** `512m`, `2g`, `1.5GiB`, or plain bytes, as bytes; null for anything else (docs/configuration.md#limits). */
export function memoryBytes(amount: number | string): number | null {
  const found = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(String(amount).trim());
  const bytes = Math.floor(Number(found?.[1]) * (UNITS[found?.[2]?.toLowerCase() ?? ''] ?? Number.NaN));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}
