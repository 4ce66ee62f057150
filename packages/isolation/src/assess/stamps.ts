import { lstatSync } from 'node:fs';
import type { Evidence, FileName } from '../types.ts';

const MOST = 20_000;

/**
 * What the files that were found look like from outside, so that a fingerprint tells when one of them was written again:
 * who agreed to lose a file agreed to that content. Links are not followed.
 */
export function stampsOf(tree: string, evidence: Evidence): string[] {
  const stamps: string[] = [];
  collect(Buffer.from(tree), evidence, stamps);
  return stamps;
}

function collect(directory: Buffer, { files, nested }: Evidence, stamps: string[]): void {
  for (const file of files) {
    if (stamps.length >= MOST) return;
    stamps.push(stampOf(below(directory, file)));
  }
  for (const inner of nested) {
    if (inner.evidence === null) continue;
    const place = inner.stray === true ? bytesOf(inner) : below(directory, inner);
    collect(place, inner.evidence, stamps);
  }
}

function stampOf(path: Buffer): string {
  try {
    const { size, mtimeMs, ctimeMs, ino } = lstatSync(path);
    return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
  } catch {
    return '-';
  }
}

function below(directory: Buffer, name: FileName): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), bytesOf(name)]);
}

function bytesOf({ path, path_base64 }: FileName): Buffer {
  return path_base64 === undefined ? Buffer.from(path) : Buffer.from(path_base64, 'base64');
}
