export * from './index-file.ts';
export * from './isolation.ts';
export * from './manifest.ts';
export * from './recipe.ts';
export * from './status.ts';
