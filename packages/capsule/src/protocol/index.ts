export * from './agent-config.ts';
export * from './codec.ts';
export * from './frame.ts';
export * from './lines.ts';
export * from './messages.ts';
export * from './proof.ts';
export * from './state-files.ts';
