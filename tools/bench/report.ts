import { availableParallelism, loadavg } from 'node:os';
import type { DockerLab } from '../docker-lab/index.ts';
import { CASE_NAMES, CASES, type Case, type Subject } from './subject.ts';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** When and where, because the numbers mean nothing without. */
export async function describeMachine({ docker }: DockerLab, rounds: number): Promise<string> {
  const { Version: version } = await docker.version();
  const load = loadavg()[0]?.toFixed(1);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, engine ${version}, ${availableParallelism()} cores with a load of ${load}, medians of ${rounds} rounds`;
}

/** As Markdown. The first subject is compared with each other one. */
export function table(subjects: readonly Subject[], measured: Map<Subject, Record<Case, number>>): string {
  const [first, ...others] = subjects;
  const heads = ['', `${first?.name}`, ...others.flatMap(({ name }) => [name, 'ratio'])];
  const rows = CASES.map((one) => {
    const of = (subject: Subject | undefined) =>
      subject === undefined ? Number.NaN : (measured.get(subject)?.[one] ?? Number.NaN);
    const cells = others.flatMap((other) => [ms(of(other)), (of(first) / of(other)).toFixed(1)]);
    return [CASE_NAMES[one], ms(of(first)), ...cells];
  });
  const lines = [heads, heads.map((_, at) => (at === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
