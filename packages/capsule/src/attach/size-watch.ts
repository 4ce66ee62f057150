import type { Size } from './terminal.ts';

/** Keeps an eye on the size the session has, which another client can make smaller than this terminal. */
export interface SizeWatch {
  /** The whole screen was drawn for this size. */
  painted(size: Size): void;
  /** The session has this size now. */
  inForce(size: Size): void;
  close(): void;
}

/** A window being dragged reports many sizes. */
const SETTLE_MS = 100;

/**
 * Asks for a repaint once the session's size went away from the terminal's, or came back to it: what is on the
 * screen was laid out for another size then, and only part of it would be drawn over. While both change together
 * the program redraws by itself.
 */
export function createSizeWatch(own: () => Size, repaint: () => void): SizeWatch {
  let current: Size | null = null;
  let differed = false;
  let timer: NodeJS.Timeout | undefined;

  const differs = (): boolean => current !== null && !same(current, own());

  return {
    painted(size) {
      clearTimeout(timer);
      current = size;
      differed = differs();
    },
    inForce(size) {
      if (current !== null && same(current, size)) return;
      current = size;
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (differs() || differed) repaint();
      }, SETTLE_MS);
    },
    close: () => clearTimeout(timer),
  };
}

function same(a: Size, b: Size): boolean {
  return a.cols === b.cols && a.rows === b.rows;
}
