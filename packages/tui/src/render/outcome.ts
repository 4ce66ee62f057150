import type { EndDocument, LoadDocument, ResumeDocument } from '@jackin/runtime';
import { duration, lines, painter, printable, type TextOptions } from '../text.ts';
import { mountLines, receiptLines } from './trees.ts';

/** What `load --detach` started, and how to get to it. */
export function renderLoad(document: LoadDocument, _options: TextOptions): string {
  const how = document.tier === null ? 'Started' : `Resumed (tier ${document.tier})`;
  return lines(
    `${how} ${document.container_base}, status ${document.status}.`,
    `  attach  jackin hardline ${document.instance_id}`,
    `  stop    jackin stop ${document.instance_id}`,
  );
}

/** What a restore brought back, and what it could not. */
export function renderResume(document: ResumeDocument, options: TextOptions): string {
  const paint = painter(options.color);
  const lost = document.did_not_return.map((what) => what.replaceAll('_', ' '));
  return lines(
    `Resumed ${document.container_base} at tier ${document.tier} in ${duration(document.elapsed_ms)}, status ${document.status}.`,
    document.returned.map((what) => `  returned        ${printable(what)}`),
    lost.length === 0 ? null : paint('yellow', `  did not return  ${lost.join(', ')}`),
    `  conversation    ${document.conversation}`,
    `  attach          jackin hardline ${document.instance_id}`,
  );
}

const HEADLINES: Record<EndDocument['outcome'], string> = {
  running: 'runs on',
  detached: 'runs on; this terminal is detached from it',
  kept: 'is kept',
  cleaned: 'was cleaned up',
  ejected: 'was ejected: its state is kept',
  returned: 'is back with its agent',
  aborted: 'was left as it is',
};

/** How a session ended: what was removed, what is kept, and the commands that come next. */
export function renderEnd(document: EndDocument, options: TextOptions): string {
  const paint = painter(options.color);
  const because = document.cause === null ? '' : `, cause ${document.cause}`;
  const status = document.status === null ? '' : `, status ${document.status}${because}`;
  const head = `${document.container_base} ${HEADLINES[document.outcome]}${status}.`;
  return lines(
    document.kept_without_choice ? paint('yellow', head) : head,
    document.policy === null ? null : `  policy    ${document.policy.value} (${document.policy.source})`,
    agentLine(document),
    document.evidence.map((text) => `  evidence  ${printable(text)}`),
    document.removed.map((text) => `  removed   ${printable(text)}`),
    document.outcome === 'cleaned'
      ? receiptLines(document.isolated).map((text) => `  went too  ${text}`)
      : mountLines(document.isolated.filter(({ verdict }) => verdict !== 'clean')).map(
          (text) => `  holds     ${text}`,
        ),
    document.kept.map((text) => `  kept      ${printable(text)}`),
    document.next_commands.map((text) => `  next      ${printable(text)}`),
  );
}

function agentLine(document: EndDocument): string | null {
  const exit = document.agent_exit;
  if (exit === null) return null;
  return `  agent     ${exit.signal === null ? `exit code ${exit.code ?? 'unknown'}` : `ended by ${printable(exit.signal)}`}`;
}
