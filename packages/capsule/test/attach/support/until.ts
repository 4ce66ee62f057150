/** Waits for conditions that are looked at again whenever something happened; each wait is bounded. */
export interface Until {
  /** Something happened. */
  changed(): void;
  until<T>(what: string, look: () => T | null | undefined | false, limitMs?: number): Promise<T>;
}

export function createUntil(describe: () => string): Until {
  const looks = new Set<() => void>();
  return {
    changed() {
      for (const look of looks) look();
    },
    until<T>(what: string, look: () => T | null | undefined | false, limitMs = 60_000) {
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => {
          looks.delete(check);
          reject(new Error(`waited ${limitMs} ms for ${what}; there is:\n${describe()}`));
        }, limitMs);
        const check = (): void => {
          const found = look();
          if (found === null || found === undefined || found === false) return;
          clearTimeout(timer);
          looks.delete(check);
          resolve(found);
        };
        looks.add(check);
        check();
      });
    },
  };
}
