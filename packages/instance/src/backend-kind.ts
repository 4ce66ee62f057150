import type { Manifest } from './manifest.ts';

/** Where an instance lives, told from its manifest alone. */
export function backendOf(manifest: Manifest): 'docker' | 'standalone' {
  if (manifest.recipe !== undefined) return manifest.recipe.backend;
  const standalone = (manifest.backend?.standalone ?? null) !== null || manifest.image_tag === 'standalone';
  return standalone ? 'standalone' : 'docker';
}
