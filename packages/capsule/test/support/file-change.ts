import { watch } from 'node:fs/promises';

/** Resolves with what `look` gives as soon as it gives something; looks again whenever the directory changes. */
export async function onChange<T>(directory: string, look: () => Promise<T | null>): Promise<T> {
  const stop = new AbortController();
  // Listening begins with the first step of the iterator, so before the first look.
  const changes = watch(directory, { signal: stop.signal })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const change = changes.next();
      const found = await look();
      if (found !== null) {
        change.catch(() => {});
        return found;
      }
      await change;
    }
  } finally {
    stop.abort();
  }
}
