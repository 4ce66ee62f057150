import { ageInWords, type InstanceDocument, type StatusDocument } from '@jackin/runtime';
import {
  bytes,
  lines,
  type Paint,
  painter,
  printable,
  type Style,
  type TextOptions,
  table,
} from '../text.ts';
import { mountLines } from './trees.ts';

const STYLES: Record<string, Style> = {
  active: 'green',
  running: 'green',
  crashed: 'red',
  failed_setup: 'red',
  host_lost: 'yellow',
  stopped: 'yellow',
};

export interface StatusTextOptions extends TextOptions {
  /** Evidence and the last screen, per instance. */
  detail: boolean;
}

/** `jackin status` as text: notices, one line per instance, and every record that could not be read. */
export function renderStatus(document: StatusDocument, options: StatusTextOptions): string {
  const paint = painter(options.color);
  const engines = document.engine.map((engine) =>
    engine.state === 'reachable'
      ? `engine  ${printable(engine.endpoint)}  reachable`
      : paint(
          'yellow',
          `engine  ${printable(engine.endpoint)}  unreachable: ${printable(engine.reason ?? 'no reason known')}`,
        ),
  );
  const notices = document.notices.map((notice) => paint('yellow', `note: ${printable(notice.message)}`));
  const corrupt = document.corrupt.flatMap((record) => [
    paint('red', `corrupt  ${printable(record.path)}`),
    `         ${printable(record.reason)}`,
  ]);
  return lines(
    engines,
    notices,
    document.instances.length === 0 ? 'No instances.' : instanceLines(document.instances, options, paint),
    corrupt,
  );
}

function instanceLines(instances: InstanceDocument[], options: StatusTextOptions, paint: Paint): string[] {
  const head = ['ID', 'WORKSPACE', 'ROLE', 'AGENT', 'STATUS', 'CAUSE', 'CONTAINER', 'SINCE'];
  const rows = table([head, ...instances.map((instance) => cells(instance, options))]);
  return rows.flatMap((row, at) => {
    const instance = instances[at - 1];
    if (instance === undefined) return [paint('bold', row)];
    return [
      colored(row, instance, paint),
      ...(options.detail ? detailLines(instance) : []),
      ...sizeLines(instance),
    ];
  });
}

function cells(instance: InstanceDocument, options: TextOptions): string[] {
  const status = instance.exit_pending ? `${instance.status} (exit pending)` : instance.status;
  const container =
    instance.container === 'running' && instance.agent_alive === 'no'
      ? 'running, no agent'
      : instance.container;
  return [
    instance.instance_id,
    instance.workspace,
    instance.role,
    instance.agent,
    status,
    instance.cause ?? '-',
    container,
    ageInWords(instance.since, options.now.toISOString()),
  ].map(printable);
}

function colored(row: string, instance: InstanceDocument, paint: Paint): string {
  const style = STYLES[instance.status];
  return style === undefined ? row : row.replace(instance.status, paint(style, instance.status));
}

function detailLines(instance: InstanceDocument): string[] {
  const facts = [
    `base          ${instance.container_base}`,
    `backend       ${instance.backend}`,
    `workdir       ${instance.workdir}`,
    `conversation  ${instance.conversation}`,
    ...(instance.keep === null ? [] : [`kept          ${instance.keep.intent}, ${instance.keep.at}`]),
    ...instance.evidence.map((line) => `evidence      ${line}`),
  ];
  const screen = (instance.last_screen ?? []).map((line) => `│ ${printable(line)}`);
  return [
    ...facts.map(printable),
    ...mountLines(instance.isolated),
    ...(screen.length === 0 ? [] : ['last screen', ...screen]),
  ].map((line) => `    ${line}`);
}

function sizeLines(instance: InstanceDocument): string[] {
  if (instance.sizes === undefined) return [];
  return [
    `    size          ${bytes(instance.sizes.total_bytes)} (data ${bytes(instance.sizes.data_bytes)})`,
  ];
}
