/** How a conversation comes back after its agent has ended (docs/agents.md#resume). */
export type ResumeStrategy =
  /** Over the agent protocol, when the running agent announces it. */
  | 'native'
  /** The agent is launched with the conversation's id. */
  | 'flag'
  /** The recorded transcript is put before the next prompt. */
  | 'history'
  | 'none';

export type AuthMode = 'sync' | 'api_key' | 'oauth_token' | 'ignore';

/** Everything jackin knows about an agent: data only, a new agent needs no code. */
export interface AgentDefinition {
  readonly id: string;
  readonly displayName: string;
  /** Launch in a terminal. `$SHELL` stands for the operator's shell. */
  readonly argv: readonly string[];
  /** Launch as an agent-protocol server on stdio; null when there is none. */
  readonly acpArgv: readonly string[] | null;
  readonly resume: ResumeStrategy;
  /** Terminal arguments that continue a conversation, `{token}` stands for its id; null when it cannot be told one. */
  readonly resumeArgs: readonly string[] | null;
  /** Terminal arguments that give a new conversation an id of ours; null when the agent makes its own. */
  readonly newSessionArgs: readonly string[] | null;
  /** Where conversations lie, relative to HOME. */
  readonly sessionFiles: readonly string[];
  readonly authModes: readonly AuthMode[];
  /** Variables that carry its credentials; any one of them is enough. */
  readonly authEnv: readonly string[];
  /** Exit codes of an agent that ended because it was told to. */
  readonly cleanExitCodes: readonly number[] | 'any';
  /** It does not work without limits as root, so it runs as another user. */
  readonly refusesRoot: boolean;
  readonly installHint: string;
  /** What must be in HOME so that it starts without its first-run questions. */
  readonly firstRunState: readonly string[];
}
