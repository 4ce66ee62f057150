import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveExitPolicy } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { decideExit, type Ended, type ExitDecision, type TreeState } from '../../src/decide/index.ts';
import type { IsolatedMountFact } from '../../src/index.ts';
import { type Outcome, policyOf, ROWS, type Row, type Setting, TREES } from './exit-policy-rows.ts';
import { causeOf } from './fixtures.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/exit-policy.md'), 'utf8');
const CLEAN_END: Ended = {
  outcome: 'ended',
  clean: true,
  status: 'clean_exited',
  cause: causeOf('clean', { exit_code: 0 }),
  exit_flow: true,
  last_attach_outcome: 'exit:0',
};

/** The trees of a row; a clean one beside the one that matters changes nothing. */
const trees = (state: TreeState): IsolatedMountFact[] =>
  (state === 'none' ? [] : state === 'clean' ? ['clean' as const] : ['clean' as const, state]).map(
    (verdict) => ({
      mount_dst: `/workspace/${verdict}`,
      kind: 'worktree',
      path: `/data/${verdict}`,
      verdict,
      reason: `because ${verdict}`,
    }),
  );

type Configured = { dirty_exit_policy?: Exclude<Setting, 'unset'> };
const says = (value: Setting): Configured => (value === 'unset' ? {} : { dirty_exit_policy: value });
const others = (value: Setting) => (['ask', 'keep', 'clean'] as const).filter((other) => other !== value);

/** Every pair of files a row stands for. */
function files({ policy, level }: Row): { workspace: Configured | null; global: Configured }[] {
  if (level === 'workspace') return [{ workspace: says(policy), global: {} }];
  if (level === 'global') {
    return [
      { workspace: null, global: says(policy) },
      { workspace: {}, global: says(policy) },
    ];
  }
  if (policy === 'unset') return [{ workspace: {}, global: {} }];
  return others(policy).map((global) => ({ workspace: says(policy), global: says(global) }));
}

const STATUS: Record<TreeState, string> = {
  none: 'restore_available',
  clean: 'restore_available',
  dirty: 'preserved_dirty',
  unpushed: 'preserved_unpushed',
  unknown: 'preserved_dirty',
};

/** Decision and wording of an outcome, spelt out. */
function expected({ outcome, tree, said }: Row): ExitDecision {
  const unfinished = trees(tree).filter(({ verdict }) => verdict !== 'clean');
  const kept = (intent: 'operator' | 'policy' | 'could_not_ask', reason: string) =>
    ({ action: 'keep', intent, status: STATUS[tree], reason }) as ExitDecision;
  switch (outcome) {
    case 'C':
      if (said.startsWith('--clean') || said.endsWith('is clean')) {
        const lost = tree === 'dirty' || tree === 'unpushed';
        const reason = lost ? `${said}: unfinished work went too (/workspace/${tree} ${tree})` : said;
        return { action: 'clean', reason };
      }
      return {
        action: 'clean',
        reason: `${said}: ${tree === 'none' ? 'there is no worktree or clone' : 'no worktree or clone is unfinished'}, so its home and conversation went too; --keep would have kept them`,
      };
    case 'K':
      return kept('policy', said);
    case 'O':
      return kept('operator', '--keep was given');
    case 'A':
      return { action: 'ask', unfinished, reason: '1 isolated mount has unfinished work.' };
    case 'U':
      return kept(
        'could_not_ask',
        `it has unfinished work (/workspace/${tree} ${tree}) and nobody can be asked`,
      );
    case 'S':
      return kept('could_not_ask', '/workspace/unknown could not be assessed: because unknown');
  }
}

describe('the exit policy', () => {
  test('has a row for every combination of policy, level, flag, tree and terminal', () => {
    const keys = ROWS.map((row) => [row.policy, row.level, row.flag, row.tree, row.terminal].join(' '));
    expect(new Set(keys).size).toBe(4 * 3 * 3 * 5 * 2);
    expect(keys).toHaveLength(4 * 3 * 3 * 5 * 2);
  });

  test.each(ROWS)('policy $policy in $level, flag $flag, tree $tree, terminal $terminal: $outcome', (row) => {
    const flag = row.flag === 'none' ? null : row.flag === '--keep' ? 'keep' : 'clean';
    for (const { workspace, global } of files(row)) {
      const policy = resolveExitPolicy({ flag, workspace, global });
      expect(policy).toEqual(policyOf(row));
      const decision = decideExit({
        classification: CLEAN_END,
        policy,
        canAsk: row.terminal === 'yes',
        isolated: trees(row.tree),
        otherSessionsAlive: 'no',
        choice: null,
      });
      expect(decision).toEqual(expected(row));
    }
  });

  test('never removes a tree nobody could look at', () => {
    expect(ROWS.filter(({ tree, outcome }) => tree === 'unknown' && outcome === 'C')).toEqual([]);
  });

  test('never removes unfinished work that nobody said to remove', () => {
    const removed = ROWS.filter((row) => row.outcome === 'C' && !['none', 'clean'].includes(row.tree));
    expect(new Set(removed.map((row) => policyOf(row).value))).toEqual(new Set(['clean']));
  });
});

describe('docs/exit-policy.md', () => {
  const WORDS: Record<Outcome, string> = {
    C: 'clean up',
    K: 'keep',
    O: 'keep',
    A: 'ask',
    U: 'keep (4)',
    S: 'keep (4)',
  };

  test('prints every combination as the code decides it', () => {
    const between = PAGE.split('<!-- policy:start -->')[1]?.split('<!-- policy:end -->')[0] ?? '';
    const printed = between
      .trim()
      .split('\n')
      .slice(2)
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.replaceAll('`', '').trim()),
      );
    const settings = [...new Set(ROWS.map(({ policy, level, flag }) => [policy, level, flag].join('|')))];
    const decided = settings.map((setting) => {
      const rows = ROWS.filter(({ policy, level, flag }) => [policy, level, flag].join('|') === setting);
      const cells = TREES.map((tree) => {
        const word = (terminal: 'yes' | 'no') => {
          const row = rows.find((one) => one.tree === tree && one.terminal === terminal);
          return row === undefined ? '' : WORDS[row.outcome];
        };
        return word('yes') === word('no') ? word('yes') : `${word('yes')} · ${word('no')}`;
      });
      return [...setting.split('|'), ...cells];
    });
    expect(printed).toEqual(decided);
  });
});
