export * from './prompts/plain.ts';
export * from './render/doctor.ts';
export * from './render/error.ts';
export * from './render/outcome.ts';
export * from './render/plan.ts';
export * from './render/result.ts';
export * from './render/status.ts';
export * from './reporter.ts';
export { isCi, type TextOptions, wantsColor } from './text.ts';
