import { fileURLToPath } from 'node:url';
import type { SessionPlan } from '../../src/protocol/index.ts';
import { plan } from './capsule-process.ts';

/** A session that runs a program of `test/fixtures`. */
export function fixture(name: string, args: string[], more: Partial<SessionPlan> = {}): SessionPlan {
  const file = fileURLToPath(new URL(`../fixtures/${name}.ts`, import.meta.url));
  return plan('', { argv: [process.execPath, file, ...args], ...more });
}
