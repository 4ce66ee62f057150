import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../../..');
const SOURCES = globSync(['packages/*/src/**/*.{ts,tsx}', 'apps/*/src/**/*.{ts,tsx}'], { cwd: ROOT });

/** The sources that mention a pattern outside of comments. */
const mentioning = (pattern: RegExp): string[] =>
  SOURCES.filter((file) => pattern.test(withoutComments(readFileSync(join(ROOT, file), 'utf8')))).sort();

const withoutComments = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

test('there are sources to look at', () => {
  expect(SOURCES.length).toBeGreaterThan(100);
});

test('only schemas, migrations, the editor and the one resolver know the key dirty_exit_policy', () => {
  const allowed = [
    /^packages\/config\/src\/(schema|migrate|edit|document)\//,
    /^packages\/config\/src\/exit-policy\.ts$/,
    // The capsule's launch file has a place for it; nothing writes or reads it.
    /^packages\/capsule\/src\/protocol\/agent-config\.ts$/,
  ];
  const readers = mentioning(/dirty_exit_policy/);
  expect(readers).toContain('packages/config/src/exit-policy.ts');
  expect(readers.filter((file) => !allowed.some((place) => place.test(file)))).toEqual([]);
});

test('the policy of an ending session is resolved in one place; the commands that show it ask the same function', () => {
  const showing = /^packages\/runtime\/src\/flows\/configuration\//;
  expect(mentioning(/\bresolveExitPolicy\(/).filter((file) => !showing.test(file))).toEqual([
    'packages/config/src/exit-policy.ts',
    'packages/runtime/src/flows/policy.ts',
  ]);
});

test('every end of a session is decided by decideExit, and only the exit flow and its dry run ask it', () => {
  expect(mentioning(/\bdecideExit\(/)).toEqual([
    'packages/runtime/src/decide/decide-exit.ts',
    'packages/runtime/src/decide/plan-exit.ts',
    'packages/runtime/src/flows/exit-flow.ts',
  ]);
  expect(mentioning(/\bEXIT_POLICY_TABLE\b/)).toEqual([
    'packages/runtime/src/decide/decide-exit.ts',
    'packages/runtime/src/decide/exit-policy-table.ts',
  ]);
});

test('load, hardline, resume and stop end in the one exit flow', () => {
  expect(mentioning(/\brunExitFlow\(/)).toEqual([
    'packages/runtime/src/flows/attached.ts',
    'packages/runtime/src/flows/exit-flow.ts',
    'packages/runtime/src/flows/stop.ts',
  ]);
  const attaching = mentioning(/\battachSession\(/);
  for (const verb of ['load', 'hardline', 'resume', 'stop']) {
    expect(attaching).toContain(`packages/runtime/src/flows/${verb}.ts`);
  }
  // The clean-up of an exit is planned where the decision is carried out, and by nobody else.
  expect(mentioning(/purpose: 'exit',/)).toEqual(['packages/runtime/src/decide/plan-exit.ts']);
});
