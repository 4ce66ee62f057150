export * from './backend.ts';
export * from './facts.ts';
export * from './jackin.ts';
export * from './plan.ts';
export * from './prompts.ts';
