import { branchSteps } from './branches.ts';
import { colleagueSteps } from './colleague.ts';
import { commitSteps } from './commits.ts';
import { fileSteps } from './files.ts';
import { hiddenSteps } from './hidden.ts';
import { interruptedSteps } from './interrupted.ts';
import { nestedSteps } from './nested.ts';
import { operatorSteps } from './operator.ts';
import { pushSteps } from './pushes.ts';
import type { Step } from './step.ts';

/** Everything that can happen in a history. */
export const STEPS: readonly Step[] = [
  ...fileSteps,
  ...commitSteps,
  ...branchSteps,
  ...hiddenSteps,
  ...nestedSteps,
  ...interruptedSteps,
  ...pushSteps,
  ...colleagueSteps,
  ...operatorSteps,
];
