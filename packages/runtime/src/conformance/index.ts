import type { MakeHarness, TestRunner } from './harness.ts';
import { describeLifecycle } from './lifecycle.ts';
import { describeSafety } from './safety.ts';

export type { BackendHarness, MakeHarness, TestRunner } from './harness.ts';

/**
 * The rules every backend keeps (docs/architecture.md#backends), as tests. It brings no test runner: pass the two
 * functions of the one at hand. `makeHarness` makes one fresh instance on the backend for each test.
 */
export function describeBackendConformance(name: string, makeHarness: MakeHarness, runner: TestRunner): void {
  runner.describe(`the ${name} backend conforms`, () => {
    describeLifecycle(makeHarness, runner);
    describeSafety(makeHarness, runner);
  });
}
