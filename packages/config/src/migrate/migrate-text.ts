import { stampVersion } from '../document/index.ts';
import { configInvalid } from '../errors.ts';
import { parseVersioned } from '../toml-file.ts';
import { type MigrationChain, stepsFrom } from './chain.ts';
import { configChain } from './config-steps.ts';
import { manifestChain } from './manifest-steps.ts';
import { workspaceChain } from './workspace-steps.ts';

export type FileKind = 'config' | 'workspace' | 'manifest';

export const chains: Readonly<Record<FileKind, MigrationChain>> = {
  config: configChain,
  workspace: workspaceChain,
  manifest: manifestChain,
};

export interface MigratedText {
  text: string;
  from: string;
  to: string;
  /** What was done, oldest first; empty for a current text, which is returned as it is. */
  steps: { from: string; to: string; summary: string }[];
}

/**
 * A text in the newest form of its kind (docs/schema-timeline.md). Comments, order, unknown keys, line ends and a byte
 * order mark stay; `version` becomes the first key. Migrating twice is migrating once.
 * @param file for messages
 * @throws JackinError `CONFIG_TOO_NEW` before anything else of it is looked at, `CONFIG_INVALID`
 */
export function migrateText(kind: FileKind, text: string, file: string): MigratedText {
  const chain = chains[kind];
  const { version } = parseVersioned(file, text, chain.target);
  const steps = stepsFrom(chain, version);
  if (steps === null) {
    const reason = `no version of this file was ever called ${JSON.stringify(version)}`;
    const fix = `Write version = "${chain.target}" if ${file} is written for this jackin.`;
    throw configInvalid(file, [{ key: 'version', reason, fix }]);
  }
  if (steps.length === 0) return { text, from: version, to: version, steps: [] };
  const changed = steps.reduce((at, step) => step.apply(at), text);
  return {
    text: stampVersion(changed, chain.target),
    from: version,
    to: chain.target,
    steps: steps.map(({ from, to, summary }) => ({ from, to, summary })),
  };
}
