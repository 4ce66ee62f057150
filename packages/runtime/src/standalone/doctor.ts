import { findProcessesByEnv, type JackinPaths, toJackinError } from '@jackin/core';
import type { Finding } from '../backend.ts';
import { INSTANCE_VARIABLE } from './find-capsule.ts';
import { SOCKET_PATH_MAX_BYTES } from './socket-path.ts';

/** Longest base name (docs/storage.md), to tell whether sockets will fit. */
const LONGEST_BASE = 'x'.repeat(58);

/** What the standalone backend needs of this host, and what it cannot do. */
export async function standaloneFindings(paths: JackinPaths): Promise<Finding[]> {
  return [nodeVersion(), await processList(), socketLength(paths), isolation()];
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = (major === 22 && minor >= 22) || (major === 24 && minor >= 15) || major > 24;
  return {
    check: 'standalone.node',
    severity: fits ? 'ok' : 'error',
    message: `Node ${process.versions.node} runs the capsule`,
    ...(fits ? {} : { hint: 'Install Node 24.15 or newer (or 22.22 or newer).' }),
  };
}

/** Leftovers of a killed session are found through it; without it nothing can be called ended. */
async function processList(): Promise<Finding> {
  const check = 'standalone.processes';
  try {
    await findProcessesByEnv(INSTANCE_VARIABLE, 'doctor');
    return { check, severity: 'ok', message: 'the process list can be read' };
  } catch (error) {
    return {
      check,
      severity: 'error',
      message: `the process list cannot be read: ${toJackinError(error).message}`,
      hint: process.platform === 'linux' ? 'Mount /proc.' : 'Make sure that `ps` is on PATH.',
    };
  }
}

function socketLength(paths: JackinPaths): Finding {
  const longest = Buffer.byteLength(paths.instance(LONGEST_BASE).socket);
  const fits = longest <= SOCKET_PATH_MAX_BYTES;
  return {
    check: 'standalone.socket_path',
    severity: fits ? 'ok' : 'info',
    message: fits
      ? `sockets fit below ${paths.socketsDir}`
      : `socket paths below ${paths.socketsDir} can be too long; such an instance gets a short runtime directory`,
  };
}

function isolation(): Finding {
  return {
    check: 'standalone.isolation',
    severity: 'info',
    message: 'the standalone backend isolates files, not the machine: an agent runs as you, with your rights',
    hint: 'Use `--backend docker` for agents you do not trust.',
  };
}
