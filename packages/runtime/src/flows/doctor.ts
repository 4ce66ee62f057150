import { access, constants } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { describeFileSystem, runProcess, toJackinError } from '@jackin/core';
import { backendOf } from '@jackin/instance';
import type { Backend, Finding } from '../backend.ts';
import { bounded } from '../observe/bounded.ts';
import { findingsSchema } from '../observe/inventory-schema.ts';
import type { FlowResult } from './api.ts';
import { leftoverFindings } from './doctor-leftovers.ts';
import type { World } from './world.ts';

const LOW_SPACE_BYTES = 1_000_000_000;
const IN_MEMORY: ReadonlySet<string> = new Set(['tmpfs', 'ramfs']);
const GIT_MS = 5_000;
const BACKEND_MS = 10_000;

/** `jackin doctor`: looks and changes nothing. Exit code 1 if a finding is an error. */
export async function doctor(world: World): Promise<FlowResult> {
  const groups = await Promise.all([
    [nodeFinding()],
    gitFinding(),
    stateFindings(world),
    lockFinding(world),
    configFindings(world),
    backendFindings(world),
    leftoverFindings(world),
  ]);
  const findings = groups.flat();
  const failed = findings.some(({ severity }) => severity === 'error');
  return { kind: 'doctor', document: { findings }, exitCode: failed ? 1 : 0 };
}

function nodeFinding(): Finding {
  return { check: 'node', severity: 'ok', message: `Node ${process.versions.node}` };
}

async function gitFinding(): Promise<Finding[]> {
  const check = 'git';
  const { exitCode, stdout, notFound } = await runProcess('git', ['--version'], { timeoutMs: GIT_MS });
  if (exitCode === 0) return [{ check, severity: 'ok', message: stdout.toString('utf8').trim() }];
  const hint = 'Install git and make sure it is on PATH.';
  return [{ check, severity: 'error', message: notFound ? 'git was not found' : 'git does not work', hint }];
}

async function stateFindings({ paths }: World): Promise<Finding[]> {
  try {
    const facts = await describeFileSystem(paths.homeDir);
    return [
      await writable(paths.homeDir, facts.path),
      facts.persistent === 'no'
        ? {
            check: 'state.file_system',
            severity: 'warning',
            message: `${paths.homeDir} ${IN_MEMORY.has(facts.kind) ? `is on ${facts.kind}` : 'lies in a temporary directory'}: everything kept there is lost at the next reboot`,
            hint: 'Set JACKIN_HOME_DIR to a directory that survives a reboot.',
          }
        : { check: 'state.file_system', severity: 'ok', message: `${facts.kind}, kept over a reboot` },
      {
        check: 'state.space',
        severity: facts.free_bytes < LOW_SPACE_BYTES ? 'warning' : 'ok',
        message: `${(facts.free_bytes / 1e9).toFixed(1)} GB free at ${facts.path}`,
        ...(facts.free_bytes < LOW_SPACE_BYTES
          ? { hint: 'Free some space: a full disk cannot keep a session.' }
          : {}),
      },
    ];
  } catch (error) {
    return [failed('state.directory', error)];
  }
}

/** The directory itself, or the one it would be made in. */
async function writable(wanted: string, existing: string): Promise<Finding> {
  const check = 'state.directory';
  try {
    await access(existing, constants.W_OK | constants.X_OK);
  } catch {
    return {
      check,
      severity: 'error',
      message: `${existing} cannot be written${existing === wanted ? '' : `, so ${wanted} cannot be made`}`,
      hint: `Check owner, mode and mount of ${existing}, or set JACKIN_HOME_DIR to another directory.`,
    };
  }
  const message =
    existing === wanted ? `${wanted} can be written` : `${wanted} does not exist yet and can be made`;
  return { check, severity: 'ok', message };
}

async function lockFinding({ paths }: World): Promise<Finding[]> {
  const check = 'state.locks';
  try {
    await access(paths.locksDb);
  } catch {
    return [{ check, severity: 'ok', message: 'no lock was ever taken' }];
  }
  try {
    const database = new DatabaseSync(paths.locksDb, { timeout: 1_000 });
    try {
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE; ROLLBACK');
    } finally {
      database.close();
    }
    return [{ check, severity: 'ok', message: `${paths.locksDb} can be used` }];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = `It holds no data. When no other jackin runs, remove it: rm '${paths.locksDb}'`;
    return [{ check, severity: 'error', message: `${paths.locksDb} cannot be used: ${reason}`, hint }];
  }
}

async function configFindings(world: World): Promise<Finding[]> {
  const check = 'config';
  try {
    const { problems } = await world.config();
    if (problems.length === 0)
      return [{ check, severity: 'ok', message: `read from ${world.paths.configDir}` }];
    return problems.map(({ file, reason }) => ({
      check,
      severity: 'warning',
      message: `${file}: ${reason}`,
    }));
  } catch (error) {
    return [failed(check, error)];
  }
}

/** A backend that is not there is an error only while it is the default one or sessions live on it. */
async function backendFindings(world: World): Promise<Finding[]> {
  const wanted = await world
    .config()
    .then(({ config }) => config.runtime.default_backend)
    .catch(() => 'docker' as const);
  const missing: Finding[] = world.backendOf.has(wanted)
    ? [{ check: 'backend', severity: 'ok', message: `${wanted} is the default` }]
    : [
        {
          check: 'backend',
          severity: 'error',
          message: `${wanted} is the default backend, and this version does not have it`,
          hint: 'Set [runtime] default_backend = "standalone" in config.toml, or use --backend standalone.',
        },
      ];
  // Records nobody can read have a finding of their own.
  const lived = await world.store.load().then(
    ({ instances }) => instances.map(backendOf),
    () => [],
  );
  const needed = new Set([wanted, ...lived]);
  const own = await Promise.all(
    world.backends.map(async (backend) => {
      const findings = await ownFindings(world, backend);
      return needed.has(backend.kind) ? findings : findings.map(asNotNeeded);
    }),
  );
  return [...missing, ...own.flat()];
}

/** Whoever works with another backend can do without. */
function asNotNeeded(finding: Finding): Finding {
  return finding.severity === 'error' ? { ...finding, severity: 'warning' } : finding;
}

async function ownFindings(world: World, backend: Backend): Promise<Finding[]> {
  const limitMs = Math.min(BACKEND_MS, world.bounds?.backendMs ?? BACKEND_MS);
  try {
    const answer = await bounded(`The ${backend.kind} backend`, limitMs, undefined, (signal) =>
      backend.doctor(signal),
    );
    const checked = findingsSchema.safeParse(answer);
    if (checked.success) return checked.data;
    const message = `the ${backend.kind} backend gave an answer that makes no sense`;
    return [{ check: backend.kind, severity: 'error', message }];
  } catch (error) {
    return [failed(backend.kind, error)];
  }
}

function failed(check: string, error: unknown): Finding {
  const { message, hint } = toJackinError(error);
  return { check, severity: 'error', message, ...(hint === undefined ? {} : { hint }) };
}
