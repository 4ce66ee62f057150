import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The few fields of instance.json (docs/storage.md) that the tour looks at. */
interface TourManifest {
  status: string;
  image_tag: string;
  backend?: { standalone?: { pid: number; socket?: string } };
}

/** The manifest of an instance, as it is on disk. Throws when there is none. */
export function readManifest(state: string, base: string): TourManifest {
  return JSON.parse(readFileSync(manifestFile(state, base), 'utf8'));
}

export function manifestFile(state: string, base: string): string {
  return join(state, 'data', base, '.jackin', 'instance.json');
}
