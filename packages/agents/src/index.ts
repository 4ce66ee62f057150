export { type ArgvOptions, agentArgv, resumeArgv } from './argv.ts';
export { withCustomAgents } from './custom.ts';
export type { AgentDefinition, AuthMode, ResumeStrategy } from './definition.ts';
export { agentRegistry, findAgent } from './registry.ts';
