import type { ExitPolicy, TreeState } from '../../src/decide/index.ts';

export type Setting = 'unset' | 'ask' | 'keep' | 'clean';
export type Level = 'global' | 'workspace' | 'both';
export type Flag = 'none' | '--keep' | '--clean';
/**
 * What comes of it: C cleaned up; K kept by policy, O kept by the operator's flag; A asked; U kept, nobody could be
 * asked; S kept, a tree could not be seen.
 */
export type Outcome = 'C' | 'K' | 'O' | 'A' | 'U' | 'S';

export interface Row {
  policy: Setting;
  level: Level;
  flag: Flag;
  tree: TreeState;
  terminal: 'yes' | 'no';
  outcome: Outcome;
  /** How the operator is told whose word it was. */
  said: string;
}

/** The settings in file order; each of the five trees has its outcome with a terminal and without one. */
const TABLE = `
policy  level      flag     none   clean  dirty  unpushed  unknown  said
unset   global     none     C/C    C/C    A/U    A/U       A/U      no policy is set, which means ask
unset   global     --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
unset   global     --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
unset   workspace  none     C/C    C/C    A/U    A/U       A/U      no policy is set, which means ask
unset   workspace  --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
unset   workspace  --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
unset   both       none     C/C    C/C    A/U    A/U       A/U      no policy is set, which means ask
unset   both       --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
unset   both       --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
ask     global     none     C/C    C/C    A/U    A/U       A/U      the global policy is ask
ask     global     --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
ask     global     --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
ask     workspace  none     C/C    C/C    A/U    A/U       A/U      the workspace policy is ask
ask     workspace  --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
ask     workspace  --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
ask     both       none     C/C    C/C    A/U    A/U       A/U      the workspace policy is ask
ask     both       --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
ask     both       --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
keep    global     none     K/K    K/K    K/K    K/K       K/K      the global policy is keep
keep    global     --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
keep    global     --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
keep    workspace  none     K/K    K/K    K/K    K/K       K/K      the workspace policy is keep
keep    workspace  --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
keep    workspace  --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
keep    both       none     K/K    K/K    K/K    K/K       K/K      the workspace policy is keep
keep    both       --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
keep    both       --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
clean   global     none     C/C    C/C    C/C    C/C       S/S      the global policy is clean
clean   global     --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
clean   global     --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
clean   workspace  none     C/C    C/C    C/C    C/C       S/S      the workspace policy is clean
clean   workspace  --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
clean   workspace  --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
clean   both       none     C/C    C/C    C/C    C/C       S/S      the workspace policy is clean
clean   both       --keep   O/O    O/O    O/O    O/O       O/O      --keep was given
clean   both       --clean  C/C    C/C    C/C    C/C       S/S      --clean was given
`;

export const TREES: readonly TreeState[] = ['none', 'clean', 'dirty', 'unpushed', 'unknown'];

/**
 * Every combination of policy, level, flag, tree and terminal, one row each. `level` says which file holds the policy;
 * with `both` the global one says something else than the workspace.
 */
export const ROWS: readonly Row[] = TABLE.trim()
  .split('\n')
  .slice(1)
  .flatMap((line) => {
    const [policy, level, flag, ...rest] = line.split(/ {2,}/);
    const said = rest.at(-1) ?? '';
    return TREES.flatMap((tree, at) => {
      const [yes, no] = (rest[at] ?? '').split('/') as Outcome[];
      const common = { policy, level, flag, tree, said } as Pick<
        Row,
        'policy' | 'level' | 'flag' | 'tree' | 'said'
      >;
      return [
        { ...common, terminal: 'yes' as const, outcome: yes as Outcome },
        { ...common, terminal: 'no' as const, outcome: no as Outcome },
      ];
    });
  });

/** The value and source a setting stands for, as the words of a row say it. */
export function policyOf({ said }: Row): ExitPolicy {
  const flag = /^--(keep|clean) was given$/.exec(said)?.[1];
  if (flag !== undefined) return { value: flag as 'keep' | 'clean', source: 'flag' };
  const [, source = 'default', value = 'ask'] = /^the (global|workspace) policy is (\w+)$/.exec(said) ?? [];
  return { value: value as ExitPolicy['value'], source: source as ExitPolicy['source'] };
}
