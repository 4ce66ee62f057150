import type { ExileDocument, FlowResult, PlansDocument, ResumeAllDocument } from '@jackin/runtime';
import { lines, painter, printable, type TextOptions } from '../text.ts';
import { renderConfiguration } from './configuration.ts';
import { renderDoctor } from './doctor.ts';
import { renderEnd, renderLoad, renderResume } from './outcome.ts';
import { renderPlan } from './plan.ts';
import { renderStatus } from './status.ts';
import { renderAssess } from './trees.ts';

/** Any verb's result as text: the same object that `--json` prints. */
export function renderResult(result: FlowResult, options: TextOptions & { detail: boolean }): string {
  switch (result.kind) {
    case 'load':
      return renderLoad(result.document, options);
    case 'resume':
      return renderResume(result.document, options);
    case 'resume_all':
      return renderResumeAll(result.document, options);
    case 'end':
      return renderEnd(result.document, options);
    case 'exile':
      return renderExile(result.document, options);
    case 'status':
      return renderStatus(result.document, options);
    case 'assess':
      return renderAssess(result.document, options);
    case 'doctor':
      return renderDoctor(result.document, options);
    case 'plan':
      return renderPlan(result.document, options);
    case 'plans':
      return renderPlans(result.document, options);
    default:
      return renderConfiguration(result, options);
  }
}

function renderPlans({ plans, failed }: PlansDocument, options: TextOptions): string {
  if (plans.length + failed.length === 0) return lines('Nothing to do.');
  const texts = plans.map((plan) => renderPlan({ plan }, options));
  return [...texts, ...(failed.length === 0 ? [] : [lines(failures(failed, options))])].join('');
}

function renderResumeAll(document: ResumeAllDocument, options: TextOptions): string {
  const total = document.resumed.length + document.failed.length;
  if (total === 0) return lines('No session was interrupted by the last host loss.');
  return lines(
    document.resumed.map((one) => {
      const lost = one.did_not_return.map((what) => what.replaceAll('_', ' ')).join(', ');
      return `${one.container_base}  tier ${one.tier}${lost === '' ? '' : `  did not return: ${lost}`}`;
    }),
    failures(document.failed, options),
    `${document.resumed.length} of ${total} interrupted sessions resumed. Attach with: jackin hardline ID`,
  );
}

function renderExile(document: ExileDocument, options: TextOptions): string {
  const total = document.ejected.length + document.failed.length;
  if (total === 0) return lines('No instance is running.');
  return lines(
    document.ejected.map((one) => `${one.container_base}  ejected, status ${one.status}`),
    failures(document.failed, options),
    `${document.ejected.length} of ${total} running instances ejected; all state is kept.`,
  );
}

function failures(failed: ResumeAllDocument['failed'], options: TextOptions): string[] {
  const paint = painter(options.color);
  return failed.map(({ container_base, error }) =>
    paint('red', `${container_base}  failed: ${printable(error.message)} (${error.code})`),
  );
}
