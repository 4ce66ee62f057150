export * from './agent-config.ts';
export * from './frame.ts';
export * from './messages.ts';
export * from './state-files.ts';
