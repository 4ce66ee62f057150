import { describeFileSystem, toJackinError } from '@jackin/core';
import type { Finding } from '../backend.ts';
import type { EngineInfo } from './api.ts';
import type { Choice } from './connect.ts';
import { isRootless } from './facts.ts';
import { engineInfo, listNetworks, look } from './lists.ts';
import { engineFactOf } from './observe.ts';
import type { DockerDeps } from './options.ts';

/** File systems that a machine shares with another one: a database in write-ahead mode gets corrupt on them. */
const SHARED: ReadonlyMap<string, string> = new Map([
  ['fuse', 'fuse or virtiofs'],
  ['0x1021997', '9p'],
  ['nfs', 'nfs'],
  ['cifs', 'cifs'],
]);

/** What the docker backend has and lacks on this machine. Looks only. Throws only the signal's reason. */
export async function dockerFindings(deps: DockerDeps, signal: AbortSignal): Promise<Finding[]> {
  signal.throwIfAborted();
  const choice = await deps.connector.choose(signal);
  return [
    ...endpointFindings(choice),
    ...(await engineFindings(choice, signal)),
    ...(await stateFinding(deps)),
  ];
}

/** Which endpoint was chosen, and why each other one was not. */
export function endpointFindings(choice: Choice): Finding[] {
  const rejected = choice.rejected.map(
    ({ source, endpoint, reason }): Finding => ({
      check: 'docker.rejected',
      severity: 'info',
      message: `${endpoint} (${source}): ${reason}`,
    }),
  );
  const problems = choice.problems.map(
    (message): Finding => ({ check: 'docker.config', severity: 'warning', message }),
  );
  if (choice.state === 'chosen') {
    const message = `${choice.engine.endpoint} answers (${choice.source})`;
    return [{ check: 'docker.endpoint', severity: 'ok', message }, ...rejected, ...problems];
  }
  return [
    {
      check: 'docker.endpoint',
      severity: 'error',
      message: `no container engine answers: ${choice.reason}`,
      hint: 'Start Docker, or name its endpoint in DOCKER_HOST; sessions can also run with `--backend standalone`.',
    },
    ...rejected,
    ...problems,
  ];
}

async function engineFindings(choice: Choice, signal: AbortSignal): Promise<Finding[]> {
  if (choice.state === 'none') return [];
  const { engine } = choice;
  const [info, networks] = await Promise.all([
    look(signal, () => engineInfo(engine, signal)),
    look(signal, () => listNetworks(engine, signal)),
  ]);
  if (!info.ok) return [{ check: 'docker.engine', severity: 'error', message: info.reason }];
  const fact = await engineFactOf(engine, { info, networks });
  const run = fact.state === 'reachable' ? fact.run : null;
  return infoFindings(info.value, { run, local: engine.address.kind === 'unix' });
}

/** In: what the engine says about itself. */
export function infoFindings(info: EngineInfo, seen: { run: string | null; local: boolean }): Finding[] {
  const name = info.OperatingSystem ?? 'an unnamed system';
  const findings: Finding[] = [
    {
      check: 'docker.engine',
      severity: info.OSType && info.OSType !== 'linux' ? 'error' : 'ok',
      message: `version ${info.ServerVersion ?? 'unknown'} on ${name} (${info.OSType ?? '?'}/${info.Architecture ?? '?'})`,
      ...(info.OSType && info.OSType !== 'linux'
        ? { hint: 'jackin needs an engine that runs Linux containers.' }
        : {}),
    },
    {
      check: 'docker.cgroup',
      severity: info.MemoryLimit === false || info.PidsLimit === false ? 'warning' : 'ok',
      message: `control groups version ${info.CgroupVersion ?? 'unknown'}, driver ${info.CgroupDriver ?? 'unknown'}${
        info.MemoryLimit === false ? '; memory limits are not enforced' : ''
      }${info.PidsLimit === false ? '; process limits are not enforced' : ''}`,
    },
    seen.run === null
      ? {
          check: 'docker.run',
          severity: 'warning',
          message:
            'the engine has no default bridge network, so its restarts cannot be told: after one, a session shows the cause "unknown"',
          hint: 'Sessions are kept all the same. Start the engine without --bridge=none to have causes named.',
        }
      : { check: 'docker.run', severity: 'ok', message: 'restarts of the engine can be told' },
  ];
  if (isRootless(info)) {
    findings.push({
      check: 'docker.rootless',
      severity: 'warning',
      message:
        'the engine is rootless: a session runs as root there, which is you outside, and agents that refuse root cannot be started',
      hint: 'Use the engine of the machine for those agents.',
    });
  }
  if (!seen.local) {
    findings.push({
      check: 'docker.remote',
      severity: 'warning',
      message:
        'the engine is reached over the network: projects have to exist at the same paths on its machine',
      hint: 'Use an engine on this machine.',
    });
  }
  return findings;
}

async function stateFinding({ paths }: DockerDeps): Promise<Finding[]> {
  try {
    const { kind, path } = await describeFileSystem(paths.homeDir);
    return sharedStateFinding(kind, path);
  } catch (error) {
    return [{ check: 'docker.state', severity: 'error', message: toJackinError(error).message }];
  }
}

/** @param kind as `describeFileSystem` names it */
export function sharedStateFinding(kind: string, path: string): Finding[] {
  const shared = SHARED.get(kind);
  if (shared === undefined) return [];
  return [
    {
      check: 'docker.state',
      severity: 'warning',
      message: `${path} is on ${shared}, which machines share: jackin's databases can get corrupt there when another one writes to them`,
      hint: 'Set JACKIN_HOME_DIR to a directory on a local disk.',
    },
  ];
}
