import { JackinError } from '@jackin/core';
import type { AgentDefinition } from './definition.ts';

/** 130: ended with Ctrl-C at its own prompt. */
export const USUAL_CLEAN_EXIT_CODES: readonly number[] = [0, 130];

const usual = {
  newSessionArgs: null,
  authModes: ['sync', 'api_key', 'ignore'],
  cleanExitCodes: USUAL_CLEAN_EXIT_CODES,
  refusesRoot: false,
} as const;

/** The built-in agents (docs/agents.md#registry). */
export const agentRegistry: readonly AgentDefinition[] = [
  {
    ...usual,
    id: 'claude',
    displayName: 'Claude Code',
    argv: ['claude'],
    acpArgv: ['claude-agent-acp'],
    resume: 'flag',
    resumeArgs: ['--resume', '{token}'],
    newSessionArgs: ['--session-id', '{token}'],
    sessionFiles: ['.claude/projects'],
    authModes: ['sync', 'api_key', 'oauth_token', 'ignore'],
    authEnv: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'],
    refusesRoot: true,
    installHint: 'npm install -g @anthropic-ai/claude-code',
    firstRunState: ['.claude', '.claude.json'],
  },
  {
    ...usual,
    id: 'codex',
    displayName: 'Codex',
    argv: ['codex'],
    acpArgv: ['codex-acp'],
    resume: 'native',
    resumeArgs: ['resume', '{token}'],
    sessionFiles: ['.codex/sessions'],
    authEnv: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    installHint: 'npm install -g @openai/codex',
    firstRunState: ['.codex'],
  },
  {
    ...usual,
    id: 'opencode',
    displayName: 'OpenCode',
    argv: ['opencode'],
    acpArgv: ['opencode', 'acp'],
    resume: 'native',
    resumeArgs: ['--session', '{token}'],
    sessionFiles: ['.local/share/opencode/opencode.db'],
    authEnv: ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
    installHint: 'npm install -g opencode-ai',
    firstRunState: ['.config/opencode', '.local/share/opencode'],
  },
  {
    ...usual,
    id: 'amp',
    displayName: 'Amp',
    argv: ['amp'],
    acpArgv: null,
    resume: 'flag',
    resumeArgs: ['threads', 'continue', '{token}'],
    sessionFiles: ['.local/share/amp/threads'],
    authEnv: ['AMP_API_KEY'],
    installHint: 'npm install -g @sourcegraph/amp',
    firstRunState: ['.config/amp', '.local/share/amp'],
  },
  {
    ...usual,
    id: 'gemini',
    displayName: 'Gemini CLI',
    argv: ['gemini'],
    acpArgv: ['gemini', '--acp'],
    resume: 'flag',
    resumeArgs: ['--resume', '{token}'],
    newSessionArgs: ['--session-id', '{token}'],
    sessionFiles: ['.gemini/tmp'],
    authEnv: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    installHint: 'npm install -g @google/gemini-cli',
    firstRunState: ['.gemini'],
  },
  {
    ...usual,
    id: 'copilot',
    displayName: 'GitHub Copilot',
    argv: ['copilot'],
    acpArgv: ['copilot', '--acp'],
    resume: 'native',
    resumeArgs: ['--resume={token}'],
    newSessionArgs: ['--session-id', '{token}'],
    sessionFiles: ['.copilot/session-state'],
    authEnv: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
    installHint: 'npm install -g @github/copilot',
    firstRunState: ['.copilot'],
  },
  {
    ...usual,
    id: 'auggie',
    displayName: 'Auggie',
    argv: ['auggie'],
    acpArgv: ['auggie', '--acp'],
    resume: 'native',
    // Its own --resume takes the most recent conversation, which may be another one.
    resumeArgs: null,
    sessionFiles: ['.augment/sessions'],
    authEnv: ['AUGMENT_SESSION_AUTH'],
    installHint: 'npm install -g @augmentcode/auggie',
    firstRunState: ['.augment'],
  },
  {
    ...usual,
    id: 'kimi',
    displayName: 'Kimi',
    argv: ['kimi'],
    acpArgv: ['kimi', 'acp'],
    resume: 'native',
    resumeArgs: null,
    sessionFiles: ['.kimi/sessions'],
    authEnv: ['KIMI_API_KEY'],
    installHint: 'uv tool install --python 3.13 kimi-cli',
    firstRunState: ['.kimi'],
  },
  {
    ...usual,
    id: 'grok',
    displayName: 'Grok',
    argv: ['grok'],
    acpArgv: ['grok', 'agent', 'stdio'],
    resume: 'native',
    resumeArgs: null,
    sessionFiles: ['.grok/sessions'],
    authEnv: ['XAI_API_KEY'],
    installHint: 'See https://x.ai/cli',
    firstRunState: ['.grok'],
  },
  {
    ...usual,
    id: 'shell',
    displayName: 'Shell',
    argv: ['$SHELL'],
    acpArgv: null,
    resume: 'none',
    resumeArgs: null,
    sessionFiles: [],
    authModes: ['ignore'],
    authEnv: [],
    cleanExitCodes: 'any',
    installHint: 'Every system has one.',
    firstRunState: [],
  },
];

/**
 * @param agents the registry to search; default: the built-in agents
 * @throws JackinError `AGENT_UNKNOWN` listing the known ones
 */
export function findAgent(id: string, agents: readonly AgentDefinition[] = agentRegistry): AgentDefinition {
  const found = agents.find((agent) => agent.id === id);
  if (found !== undefined) return found;
  const known = agents.map((agent) => agent.id);
  throw new JackinError({
    code: 'AGENT_UNKNOWN',
    message: `There is no agent ${JSON.stringify(id)}.`,
    hint: `Known agents: ${known.join(', ')}. Others can be defined as [agents.<id>] in config.toml.`,
    details: { agent: id, known },
    exitCode: 2,
  });
}
