import {
  type AgentDefinition,
  agentArgv,
  agentRegistry,
  findAgent,
  resumeArgv,
  withCustomAgents,
} from '@jackin/agents';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

const agent = (id: string) => findAgent(id);

describe('the registry', () => {
  test('has the documented agents, each once', () => {
    expect(agentRegistry.map(({ id }) => id)).toEqual([
      'claude',
      'codex',
      'opencode',
      'amp',
      'gemini',
      'copilot',
      'auggie',
      'kimi',
      'grok',
      'shell',
    ]);
  });

  test.each(agentRegistry)('$id is consistent', (one) => {
    expect(one.argv.length).toBeGreaterThan(0);
    expect(one.displayName).not.toBe('');
    expect(one.installHint).not.toBe('');
    for (const path of [...one.sessionFiles, ...one.firstRunState])
      expect(path).not.toMatch(/^[/~]|\.\.(\/|$)/);
    for (const name of one.authEnv) expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/);
    if (one.resume === 'native') expect(one.acpArgv).not.toBeNull();
    if (one.resume === 'flag') expect(one.resumeArgs).not.toBeNull();
    for (const args of [one.resumeArgs, one.newSessionArgs]) {
      if (args !== null) expect(args.filter((word) => word.includes('{token}'))).toHaveLength(1);
    }
    if (one.newSessionArgs !== null) expect(one.resumeArgs).not.toBeNull();
  });

  test('a shell ends cleanly with any code, the others with 0 or Ctrl-C', () => {
    for (const one of agentRegistry) {
      expect(one.cleanExitCodes).toEqual(one.id === 'shell' ? 'any' : [0, 130]);
    }
  });

  test('only Claude refuses root, and needs both parts of its first-run state', () => {
    expect(agentRegistry.filter((one) => one.refusesRoot).map(({ id }) => id)).toEqual(['claude']);
    expect(agent('claude').firstRunState).toEqual(['.claude', '.claude.json']);
  });

  test('an unknown agent is named together with the known ones', () => {
    expect(() => findAgent('claud')).toThrow(
      expect.objectContaining({
        code: 'AGENT_UNKNOWN',
        exitCode: 2,
        message: expect.stringContaining('"claud"'),
        hint: expect.stringContaining('claude, codex'),
        details: { agent: 'claud', known: agentRegistry.map(({ id }) => id) },
      }),
    );
    for (const id of ['', '__proto__', 'CLAUDE']) expect(() => findAgent(id)).toThrow();
  });
});

describe('command lines', () => {
  test.each<[string, string[], string | undefined, string[]]>([
    ['claude', [], '/bin/zsh', ['claude']],
    ['claude', ['--model', 'x y'], '/bin/zsh', ['claude', '--model', 'x y']],
    ['shell', [], '/bin/zsh', ['/bin/zsh']],
    ['shell', ['make', 'a b; c'], '/bin/zsh', ['make', 'a b; c']],
    ['shell', [], '', ['/bin/sh']],
    ['shell', [], 'zsh', ['/bin/sh']],
    ['shell', [], './sh', ['/bin/sh']],
  ])('%s with %j under %j', (id, extra, shell, argv) => {
    expect(agentArgv(agent(id), { extra, ...(shell === undefined ? {} : { shell }) })).toEqual(argv);
  });

  test('the shell is $SHELL of this process unless told otherwise', () => {
    const before = process.env.SHELL;
    try {
      process.env.SHELL = '/opt/fish';
      expect(agentArgv(agent('shell'), { extra: [] })).toEqual(['/opt/fish']);
      delete process.env.SHELL;
      expect(agentArgv(agent('shell'), { extra: [] })).toEqual(['/bin/sh']);
    } finally {
      if (before === undefined) delete process.env.SHELL;
      else process.env.SHELL = before;
    }
  });

  test.each<[string, string[] | null]>([
    ['claude', ['claude', '--resume', 'T', '-x']],
    ['codex', ['codex', 'resume', 'T', '-x']],
    ['opencode', ['opencode', '--session', 'T', '-x']],
    ['amp', ['amp', 'threads', 'continue', 'T', '-x']],
    ['gemini', ['gemini', '--resume', 'T', '-x']],
    ['copilot', ['copilot', '--resume=T', '-x']],
    ['auggie', null],
    ['kimi', null],
    ['grok', null],
    ['shell', null],
  ])('%s continues a conversation with %j', (id, argv) => {
    expect(resumeArgv(agent(id), 'T', { extra: ['-x'] })).toEqual(argv);
  });

  test('a token is put in as it is, one argument, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string(), (token) => {
        expect(resumeArgv(agent('claude'), token, { extra: [] })).toEqual(['claude', '--resume', token]);
        expect(resumeArgv(agent('copilot'), token, { extra: [] })).toEqual(['copilot', `--resume=${token}`]);
      }),
    );
  });
});

describe('custom agents', () => {
  const custom = (value: unknown, id = 'mine'): AgentDefinition => {
    const agents = withCustomAgents({ [id]: value });
    expect(agents.slice(0, -1)).toEqual(agentRegistry);
    return findAgent(id, agents);
  };

  test('a command is enough', () => {
    expect(custom({ command: 'aider' })).toEqual({
      id: 'mine',
      displayName: 'mine',
      argv: ['aider'],
      acpArgv: null,
      resume: 'none',
      resumeArgs: null,
      newSessionArgs: null,
      sessionFiles: [],
      authModes: ['ignore'],
      authEnv: [],
      cleanExitCodes: [0, 130],
      refusesRoot: false,
      installHint: expect.stringContaining('[agents.mine]'),
      firstRunState: [],
    });
  });

  test('a text is split at spaces, a list is taken as it is', () => {
    expect(custom({ command: ' my  agent --fast ' }).argv).toEqual(['my', 'agent', '--fast']);
    expect(custom({ command: ['my agent', '', '"x"'] }).argv).toEqual(['my agent', '', '"x"']);
  });

  test('every documented field is used', () => {
    const value = {
      command: 'mine',
      acp_command: 'mine acp',
      resume: 'native',
      resume_flag: '--continue',
      session_dir: '~/.mine/sessions',
      unknown: 1,
    };
    expect(custom(value)).toMatchObject({
      acpArgv: ['mine', 'acp'],
      resume: 'native',
      resumeArgs: ['--continue', '{token}'],
      sessionFiles: ['.mine/sessions'],
    });
    const flag = custom({ command: 'mine', resume: 'flag', resume_flag: '--resume={token}' });
    expect(resumeArgv(flag, 'T', { extra: [] })).toEqual(['mine', '--resume=T']);
  });

  test.each<[string, unknown, RegExp]>([
    ['claude', { command: 'x' }, /built in/],
    ['Mine', { command: 'x' }, /an id is made of/],
    ['', { command: 'x' }, /an id is made of/],
    ['mine', {}, /command/],
    ['mine', null, /expected object/],
    ['mine', { command: '' }, /command is empty/],
    ['mine', { command: '  ' }, /command is empty/],
    ['mine', { command: [] }, /command/],
    ['mine', { command: [''] }, /command is empty/],
    ['mine', { command: 'sh -c "rm x"' }, /write it as a list/],
    ['mine', { command: 'x', acp_command: "x 'y'" }, /acp_command has quotes/],
    ['mine', { command: 'x', resume: 'flag' }, /needs resume_flag/],
    ['mine', { command: 'x', resume: 'native' }, /needs acp_command/],
    ['mine', { command: 'x', resume: 'always' }, /resume/],
    ['mine', { command: 'x', session_dir: '/etc' }, /not inside the home/],
    ['mine', { command: 'x', session_dir: '~' }, /not inside the home/],
    ['mine', { command: 'x', session_dir: 'a/../../b' }, /not inside the home/],
  ])('[agents.%s] %j is refused by name', (id, value, reason) => {
    expect(() => withCustomAgents({ [id]: value })).toThrow(
      expect.objectContaining({
        code: 'AGENT_INVALID',
        message: expect.stringMatching(reason),
        details: expect.objectContaining({ agent: id }),
      }),
    );
  });
});
