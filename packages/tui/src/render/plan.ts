import type { Plan, PlanDocument, Step } from '@jackin/runtime';
import { lines, painter, printable, type TextOptions } from '../text.ts';

/** A `--dry-run` as text: what each step makes and takes away. */
export function renderPlan(document: PlanDocument, options: TextOptions): string {
  const { plan } = document;
  const paint = painter(options.color);
  return lines(
    paint('bold', `Plan: ${printable(plan.summary)}`),
    plan.steps.length === 0 ? '  nothing to do' : plan.steps.flatMap((step, at) => stepLines(step, at)),
    returnLines(plan),
    paint('dim', 'Dry run: nothing was changed.'),
  );
}

function stepLines(step: Step, at: number): string[] {
  return [
    `  ${at + 1}. ${step.op.replaceAll('_', ' ')}`,
    ...step.creates.map((text) => `       + ${printable(text)}`),
    ...step.removes.map((text) => `       - ${printable(text)}`),
  ];
}

function returnLines(plan: Plan): string[] {
  if (plan.tier === null) return [];
  return [
    `  tier ${plan.tier}`,
    ...plan.returns.map((text) => `  returns        ${printable(text)}`),
    ...plan.did_not_return.map((text) => `  cannot return  ${text.replaceAll('_', ' ')}`),
  ];
}
