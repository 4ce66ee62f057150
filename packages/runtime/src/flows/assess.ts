import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorCode, fileSystemError, JackinError } from '@jackin/core';
import { type Assessment, assess } from '@jackin/isolation';
import type { AssessDocument } from '../jackin.ts';
import type { AssessRequest, FlowResult } from './api.ts';
import type { World } from './world.ts';

/**
 * `jackin assess PATH`: what a git tree holds that is nowhere else (docs/isolation.md#verdicts). Needs no instance and no
 * engine, and changes nothing.
 * @throws JackinError PATH_NOT_FOUND; USAGE for a base that is no commit id
 */
export async function assessPath(world: World, { path, base }: AssessRequest): Promise<FlowResult> {
  const at = resolve(world.cwd, path);
  await requirePath(at);
  if (base !== null && !/^[0-9a-f]{7,64}$/.test(base)) throw notACommit(base, at);
  const found = await assess(at, {
    base,
    env: world.env,
    ...(world.git === undefined ? {} : { git: world.git }),
  });
  return { kind: 'assess', document: assessDocument(found), exitCode: 0 };
}

function assessDocument({
  path,
  kind,
  verdict,
  reason,
  evidence,
  git_processes,
}: Assessment): AssessDocument {
  const mount = { mount_dst: null, kind, path, verdict, reason, evidence };
  return { ...mount, divergence: null, git_processes };
}

async function requirePath(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw fileSystemError(error, path, 'read');
    throw new JackinError({
      code: 'PATH_NOT_FOUND',
      message: `There is nothing at ${path}`,
      hint: 'Name the directory of a repository, worktree, clone or submodule: jackin assess PATH',
      details: { path },
    });
  }
}

function notACommit(base: string, path: string): JackinError {
  return new JackinError({
    code: 'USAGE',
    message: `${JSON.stringify(base)} is not the id of a commit`,
    hint: `Ask git for it: jackin assess '${path}' --base "$(git -C '${path}' rev-parse ${/^[\w./~^-]+$/.test(base) ? base : 'NAME'})"`,
    details: { base },
    exitCode: 2,
  });
}
