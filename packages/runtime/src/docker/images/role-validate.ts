import { MANIFEST_VERSION, type RoleIssue, type RoleManifest } from '@jackin/config';
import { JackinError } from '@jackin/core';
import { walkContext } from './context.ts';
import { openRole } from './role-directory.ts';

export interface RoleProblem {
  code: string;
  file: string;
  /** Where in the file; empty for the whole of it. */
  key: string;
  line: number | null;
  reason: string;
}

/** `role validate --json`. */
export interface RoleReport {
  path: string;
  /** A session can be made of it on an engine, as far as that can be told without one. */
  valid: boolean;
  problems: RoleProblem[];
  /** What is no fault and good to know. */
  notices: string[];
  /** Null when it cannot be read. */
  manifest: RoleManifest | null;
}

/**
 * Everything a launch would refuse a role for before the engine is asked: manifest, Dockerfile, the files that would be
 * sent (docs/roles.md#checking). Changes nothing.
 * @throws JackinError `ROLE_NOT_FOUND`, `STATE_NOT_READABLE`
 */
export async function validateRole(path: string): Promise<RoleReport> {
  const report: RoleReport = { path, valid: false, problems: [], notices: [], manifest: null };
  try {
    const role = await openRole(path);
    const { manifest, dir } = role;
    report.path = dir;
    report.manifest = manifest;
    report.notices = noticesOf(manifest, dir);
    await walkContext(role);
    report.problems = manifest.unsupported.map((key) => ({
      code: 'ROLE_UNSUPPORTED',
      file: role.manifestFile,
      key,
      line: role.lineOf(key),
      reason: 'this version cannot do what it asks for',
    }));
  } catch (error) {
    report.problems = problemsOf(error);
  }
  report.valid = report.problems.length === 0;
  return report;
}

function noticesOf({ version, models }: RoleManifest, dir: string): string[] {
  return [
    ...(version === MANIFEST_VERSION
      ? []
      : [`it is written for the version ${version}; bring it up to date with: jackin role migrate ${dir}`]),
    ...Object.entries(models).map(
      ([agent, model]) => `the model ${model} of ${agent} has no effect in this version`,
    ),
  ];
}

/** Faults of the role become lines of the report; that there is none, or that it cannot be read, is an error. */
function problemsOf(error: unknown): RoleProblem[] {
  if (!(error instanceof JackinError) || !['ROLE_INVALID', 'ROLE_VERSION'].includes(error.code)) throw error;
  const { code, details, message } = error;
  const file = String(details.file);
  const problems = details.problems as RoleIssue[] | undefined;
  if (problems === undefined) {
    return [{ code, file, key: String(details.key ?? 'version'), line: null, reason: message }];
  }
  return problems.map(({ key, reason, line }) => ({ code, file, key, line: line ?? null, reason }));
}
