import { JackinError } from '@jackin/core';
import { manifestError } from './manifest-file.ts';
import type { CorruptRecord, LoadedState, ResolvedInstance } from './types.ts';

type Match = { instance_id: string | null; container_base: string } & (
  | { kind: 'usable'; instance: ResolvedInstance }
  | { kind: 'corrupt'; record: CorruptRecord }
);

/** See {@link InstanceStore.resolve}. An exact id or base name wins over any prefix. */
export function resolveSelector(state: LoadedState, selector: string): ResolvedInstance {
  const all = candidates(state);
  const exact = all.filter((match) => selector === match.container_base || selector === match.instance_id);
  const matches =
    exact.length > 0 || selector === '' ? exact : all.filter((match) => starts(match, selector));
  const [only] = matches;
  if (only === undefined) throw instanceNotFound(selector);
  if (matches.length > 1) throw ambiguous(selector, matches);
  // A record that cannot be read is not a missing one: answering "no manifest" would invite a removal.
  if (only.kind === 'corrupt') throw manifestError({ state: 'corrupt', ...only.record });
  return only.instance;
}

export function instanceNotFound(selector: string): JackinError {
  return new JackinError({
    code: 'INSTANCE_NOT_FOUND',
    message: `There is no instance ${JSON.stringify(selector)}.`,
    hint: 'List the instances with: jackin status',
    details: { selector },
  });
}

function candidates(state: LoadedState): Match[] {
  const usable = [
    ...state.instances.map((manifest) => ({ ...manifest, manifest })),
    ...state.rowsWithoutManifest.map((row) => ({ ...row, manifest: null })),
  ].map(({ instance_id, container_base, manifest }): Match => {
    const instance = { instance_id, container_base, manifest };
    return { kind: 'usable', instance_id, container_base, instance };
  });
  const corrupt = state.corrupt.map((record): Match => {
    const { instance_id, container_base } = record;
    return { kind: 'corrupt', instance_id, container_base, record };
  });
  return [...usable, ...corrupt];
}

function starts(match: Match, prefix: string): boolean {
  return match.container_base.startsWith(prefix) || (match.instance_id?.startsWith(prefix) ?? false);
}

function ambiguous(selector: string, matches: Match[]): JackinError {
  const names = matches.map((match) => match.container_base);
  return new JackinError({
    code: 'INSTANCE_AMBIGUOUS',
    message: `${JSON.stringify(selector)} matches ${matches.length} instances: ${names.join(', ')}.`,
    hint: 'Type more of the id or the name.',
    details: {
      selector,
      matches: matches.map(({ instance_id, container_base }) => ({ instance_id, container_base })),
    },
  });
}
