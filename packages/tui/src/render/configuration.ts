import type {
  ConfigurationResult,
  ExitPolicyDocument,
  MountsDocument,
  SettingsDocument,
  VariablesDocument,
  WorkspacesDocument,
} from '@jackin/runtime';
import { lines, painter, printable, type TextOptions, table } from '../text.ts';
import { renderEdit } from './edit.ts';
import { renderRoleCreated, renderRoleMigration, renderRoleReport, renderRoles } from './roles.ts';
import { valueText } from './value.ts';

/** The result of a command about configuration as text. */
export function renderConfiguration(result: ConfigurationResult, options: TextOptions): string {
  switch (result.kind) {
    case 'edit':
      return renderEdit(result.document, options);
    case 'workspaces':
      return renderWorkspaces(result.document, options);
    case 'settings':
      return renderSettings(result.document, options);
    case 'variables':
      return renderVariables(result.document, options);
    case 'mounts':
      return renderMounts(result.document, options);
    case 'exit_policy':
      return lines(policyText(result.document));
    case 'role_report':
      return renderRoleReport(result.document, options);
    case 'role_migration':
      return renderRoleMigration(result.document, options);
    case 'role_created':
      return renderRoleCreated(result.document, options);
    case 'roles':
      return renderRoles(result.document, options);
    case 'cancelled':
      return lines('Cancelled: nothing was changed.');
  }
}

function renderWorkspaces({ workspaces }: WorkspacesDocument, options: TextOptions): string {
  if (workspaces.length === 0) return lines('No workspaces. Make one with: jackin workspace create NAME');
  const head = ['NAME', 'WORKDIR', 'MOUNTS', 'ROLE', 'AGENT', 'AT THE END', 'INSTANCES'];
  const rows = workspaces.map((one) =>
    [
      one.name,
      one.workdir,
      String(one.mounts.length),
      one.default_role ?? '-',
      one.default_agent ?? '-',
      policyText(one.exit_policy),
      String(one.instances),
    ].map(printable),
  );
  return withHead([head, ...rows], options);
}

function renderSettings(document: SettingsDocument, options: TextOptions): string {
  const paint = painter(options.color);
  const rows = table(
    document.settings.map(({ key, value, source, line }) => [
      printable(key),
      printable(valueText(value)),
      source === 'default' ? paint('dim', 'default') : `line ${line}`,
    ]),
  );
  return lines(
    paint('bold', printable(document.subject)),
    `file         ${document.file === null ? 'none: everything is a default' : printable(document.file)}`,
    `exit policy  ${policyText(document.exit_policy)}`,
    '',
    rows,
    document.problems.map(({ file, reason, line }) =>
      paint('yellow', `problem  ${printable(file)}${line === null ? '' : `:${line}`}: ${printable(reason)}`),
    ),
    (document.instances ?? []).map(
      ({ container_base, status }) => `instance  ${printable(container_base)}  ${status}`,
    ),
  );
}

function renderVariables({ subject, variables }: VariablesDocument, options: TextOptions): string {
  if (variables.length === 0) return lines(`No variables in ${printable(subject)}.`);
  const rows = variables.map(({ layer, name, value, kind, on_demand: onDemand }) =>
    [layer, name, value, onDemand ? `${kind}, on demand` : kind].map(printable),
  );
  return withHead([['LAYER', 'NAME', 'VALUE', 'KIND'], ...rows], options);
}

function renderMounts({ mounts }: MountsDocument, options: TextOptions): string {
  if (mounts.length === 0) return lines('No mounts for every session.');
  const rows = mounts.map(({ name, src, dst, readonly }) =>
    [name, src, dst, readonly ? 'read-only' : 'read and write'].map(printable),
  );
  return withHead([['NAME', 'SOURCE', 'DESTINATION', 'ACCESS'], ...rows], options);
}

function policyText({ value, source }: ExitPolicyDocument): string {
  return `${value} (${source})`;
}

function withHead(rows: string[][], options: TextOptions): string {
  const paint = painter(options.color);
  return lines(table(rows).map((row, at) => (at === 0 ? paint('bold', row) : row)));
}
