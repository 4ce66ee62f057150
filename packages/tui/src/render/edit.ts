import type { EditDocument } from '@jackin/runtime';
import { lines, painter, printable, type TextOptions, table } from '../text.ts';
import { valueText } from './value.ts';

const DONE: Record<EditDocument['action'], string> = {
  created: 'Created',
  changed: 'Changed',
  unchanged: 'Nothing to change in',
  renamed: 'Renamed',
  removed: 'Removed',
};

const WOULD: Record<EditDocument['action'], string> = {
  created: 'Would create',
  changed: 'Would change',
  unchanged: 'Nothing to change in',
  renamed: 'Would rename',
  removed: 'Would remove',
};

/** What an edit did to which file, value by value, and what became of the instances of a workspace. */
export function renderEdit(document: EditDocument, options: TextOptions): string {
  const paint = painter(options.color);
  const { action, subject, file, dry_run: dryRun } = document;
  return lines(
    `${(dryRun ? WOULD : DONE)[action]} ${printable(subject)}.`,
    `  file      ${printable(file)}`,
    table(
      document.changes.map(({ key, before, after }) => {
        const was = before === null ? [] : [paint('red', `- ${printable(valueText(before))}`)];
        const is = after === null ? [] : [paint('green', `+ ${printable(valueText(after))}`)];
        return [`  ${printable(key)}`, [...was, ...is].join('  ')];
      }),
    ),
    document.instances.map(({ container_base, status, effect, done }) => {
      const line = `  instance  ${printable(container_base)} (${status}) ${printable(effect)}`;
      return done ? line : paint('yellow', line);
    }),
    dryRun ? paint('dim', 'Dry run: nothing was changed.') : null,
  );
}
