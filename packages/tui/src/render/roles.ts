import type { ConfigurationResult } from '@jackin/runtime';
import { lines, painter, printable, type TextOptions, table } from '../text.ts';

type DocumentOf<K extends ConfigurationResult['kind']> = Extract<
  ConfigurationResult,
  { kind: K }
>['document'];

/** Everything that is wrong with a role, with its place. */
export function renderRoleReport(document: DocumentOf<'role_report'>, options: TextOptions): string {
  const paint = painter(options.color);
  const { path, valid, problems, notices } = document;
  return lines(
    valid
      ? paint('green', `The role in ${printable(path)} can be used.`)
      : paint('red', `The role in ${printable(path)} cannot be used.`),
    problems.map(({ file, line, key, reason, code }) => {
      const where = `${file}${line === null ? '' : `:${line}`}`;
      return `  ${printable(`${where}: ${key === '' ? '' : `${key}: `}${reason}`)} (${code})`;
    }),
    notices.map((notice) => `  note: ${printable(notice)}`),
  );
}

/** Each step a manifest was, or would be, brought through. */
export function renderRoleMigration(document: DocumentOf<'role_migration'>, options: TextOptions): string {
  const paint = painter(options.color);
  const { file, from, to, steps, changed, dry_run: dryRun } = document;
  if (!changed) return lines(`${printable(file)} is of the newest version, ${to}.`);
  return lines(
    `${dryRun ? 'Would bring' : 'Brought'} ${printable(file)} from ${from} to ${to}.`,
    steps.map((step) => `  ${step.from} → ${step.to}  ${printable(step.summary)}`),
    dryRun ? paint('dim', 'Dry run: nothing was changed.') : null,
  );
}

export function renderRoleCreated({ dir, files }: DocumentOf<'role_created'>, _options: TextOptions): string {
  return lines(
    `Created a role in ${printable(dir)}.`,
    files.map((file) => `  ${printable(file)}`),
    `  use it   jackin config set roles.KEY.path ${printable(dir)}`,
    `  look     jackin role validate ${printable(dir)}`,
  );
}

export function renderRoles({ roles }: DocumentOf<'roles'>, options: TextOptions): string {
  const paint = painter(options.color);
  const head = ['KEY', 'FROM', 'SOURCE', 'TRUSTED', 'COMMIT', 'AGENTS'];
  const rows = table([
    head,
    ...roles.map((role) =>
      [
        role.key,
        role.kind,
        role.source,
        role.trusted ? 'yes' : 'no',
        role.cached?.commit.slice(0, 7) ?? '-',
        role.agents?.join(', ') ?? '-',
      ].map(printable),
    ),
  ]);
  return lines(
    rows.flatMap((row, at) => {
      if (at === 0) return [paint('bold', row)];
      const problem = roles[at - 1]?.problem ?? null;
      return problem === null
        ? [row]
        : [row, paint('red', `  ${printable(problem.message)} (${problem.code})`)];
    }),
  );
}
