export { type CountedGit, countedGit, type GitRunner } from './git-runner.ts';
export * from './types.ts';
