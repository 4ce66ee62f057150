import { fileURLToPath } from 'node:url';
import { bundled } from './version.ts';

/** The program that is the capsule: its bundle beside ours, or its sources when ours run directly. */
export function capsuleProgram(): { file: string; args: string[] } {
  if (bundled)
    return { file: process.execPath, args: [fileURLToPath(new URL('./capsule.mjs', import.meta.url))] };
  const main = fileURLToPath(new URL('./main.ts', import.meta.resolve('@jackin/capsule')));
  return { file: process.execPath, args: ['--conditions=@jackin/source', main] };
}
