import { agentRegistry } from '@jackin/agents';
import { expect, test } from '@jest/globals';
import { cleanExitCodes } from '../../src/observe/local-facts.ts';
import { factsOf } from '../decide/fixtures.ts';

test.each([
  ['codex', [0, 130]],
  ['shell', 'any'],
  ['an agent of the future', [0]],
])(
  'the clean codes of %s are those of the instance, not of whom its record names',
  (agent_runtime, codes) => {
    const { manifest } = factsOf('standalone', { manifest: { agent_runtime } });
    expect(cleanExitCodes(manifest, agentRegistry)).toEqual(codes);
  },
);
