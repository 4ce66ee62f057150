import type { DoctorDocument, Finding } from '@jackin/runtime';
import { lines, painter, printable, type Style, type TextOptions } from '../text.ts';

const MARKS: Record<Finding['severity'], { mark: string; style: Style }> = {
  ok: { mark: 'ok', style: 'green' },
  info: { mark: 'info', style: 'cyan' },
  warning: { mark: 'warning', style: 'yellow' },
  error: { mark: 'error', style: 'red' },
};

/** The findings, one line each, with the remedy under those that have one. */
export function renderDoctor(document: DoctorDocument, options: TextOptions): string {
  const paint = painter(options.color);
  const width = Math.max(0, ...document.findings.map(({ check }) => check.length));
  return lines(
    document.findings.flatMap((finding) => {
      const { mark, style } = MARKS[finding.severity];
      const head = `${paint(style, mark.padEnd(8))} ${finding.check.padEnd(width)}  ${printable(finding.message)}`;
      return finding.hint === undefined
        ? [head]
        : [head, `${' '.repeat(width + 11)}${printable(finding.hint)}`];
    }),
  );
}
