import { expect } from '@jest/globals';
import { endFacts } from '../../src/decide/end-facts.ts';
import { CAUSE_TABLE, classifyExit } from '../../src/decide/index.ts';
import type { InstanceFacts } from '../../src/index.ts';
import { NOW } from './fixtures.ts';

/** One case of a line of the cause table: which line fits, what follows, and which facts the evidence names. */
export interface CauseCase {
  title: string;
  row: string;
  facts: InstanceFacts;
  status: string;
  cause: string;
  code?: number | null;
  exitFlow?: boolean;
  evidence: string[];
}

export function expectCause({ row, facts, status, cause, code, exitFlow, evidence }: CauseCase): void {
  expect(CAUSE_TABLE.find((line) => line.matches(endFacts(facts, NOW)))?.id).toBe(row);
  const seen = classifyExit(facts, NOW);
  if (seen.outcome !== 'ended') throw new Error(`expected an end, got ${seen.outcome}`);
  expect({ status: seen.status, cause: seen.cause?.kind }).toEqual({ status, cause });
  if (code !== undefined) expect(seen.cause?.exit_code ?? null).toBe(code);
  expect([seen.clean, seen.exit_flow]).toEqual([exitFlow ?? false, exitFlow ?? false]);
  for (const part of evidence) expect(seen.cause?.evidence.join('\n')).toContain(part);
}
