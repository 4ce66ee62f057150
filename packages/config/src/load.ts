import type { JackinPaths } from '@jackin/core';
import { literalReferences } from './env/references.ts';
import { type ConfigSource, describeIssue, type FieldIssue, locate } from './errors.ts';
import { readOperatorFiles } from './migrate/operator-files.ts';
import { type CrossChecks, checkGlobal, checkWorkspace } from './schema/cross-checks.ts';
import { validGlobal, validWorkspace } from './schema/validate.ts';
import type { WorkspaceConfig } from './schema/workspace.ts';
import type { LoadedConfig } from './types.ts';

/**
 * Reads `config.toml` and `workspaces/*.toml` of every version from legacy to the current one, writing nothing: older
 * ones are brought to the newest form in memory. Missing files are defaults. A file that cannot be understood is an
 * error, not a default: a forgotten `dirty_exit_policy = "keep"` would delete work.
 * @throws JackinError `CONFIG_TOO_NEW`, `CONFIG_INVALID` (file, key and line), `STATE_NOT_READABLE`
 */
export async function loadConfig(paths: Pick<JackinPaths, 'configDir'>): Promise<LoadedConfig> {
  const files = await readOperatorFiles(paths.configDir);
  const config = validGlobal(files.config);
  const workspaces = new Map<string, WorkspaceConfig>();
  const sources = new Map<string, ConfigSource>();
  const problems: LoadedConfig['problems'] = [];
  const note = (source: ConfigSource | null, issues: FieldIssue[]) => {
    if (source === null) return;
    for (const issue of locate(source, issues)) {
      const { key, line = null } = issue;
      problems.push({ file: source.file, reason: describeIssue(issue), key, line });
    }
  };
  const configSource = files.config?.source ?? null;
  note(configSource, [...literalReferences(config), ...all(checkGlobal(config))]);
  for (const [name, file] of files.workspaces) {
    const workspace = validWorkspace(file);
    workspaces.set(name, workspace);
    sources.set(name, file.source);
    note(file.source, [...literalReferences(workspace), ...all(checkWorkspace(workspace))]);
  }
  return { config, workspaces, problems, sources: { config: configSource, workspaces: sources } };
}

function all({ issues, reserved, unenforced }: CrossChecks): FieldIssue[] {
  return [...issues, ...reserved, ...unenforced];
}
