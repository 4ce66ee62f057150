/**
 * Directories package managers and build tools fill by themselves: not entered in search of repositories where git
 * ignores them, and named in the evidence instead of their files (docs/isolation.md#dependency-directories).
 */
export const DEPENDENCY_DIRECTORIES: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  '.venv',
  'venv',
  'target',
  '__pycache__',
  '.tox',
  '.nox',
  '.gradle',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.parcel-cache',
  '.turbo',
  '.terraform',
  '.pnpm-store',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
]);

/** Entered, but named in the evidence instead of their files, too. */
export const BUILD_DIRECTORIES: ReadonlySet<string> = new Set(['dist', 'build', 'out', 'coverage', '.cache']);
