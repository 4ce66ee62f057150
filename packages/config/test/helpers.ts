import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LoadedConfig, loadConfig } from '@jackin/config';
import { type JackinPaths, resolvePaths } from '@jackin/core';

export interface Scratch extends AsyncDisposable {
  /** Canonical. */
  root: string;
  configDir: string;
  paths: JackinPaths;
  load(): Promise<LoadedConfig>;
}

/** A configuration directory with these files, and any other files or (with a final slash) directories. */
export async function scratch(
  config: Record<string, string | Buffer>,
  others: string[] = [],
): Promise<Scratch> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'jackin-config-')));
  const configDir = join(root, 'config');
  for (const [name, content] of Object.entries(config)) {
    await mkdir(dirname(join(configDir, name)), { recursive: true });
    await writeFile(join(configDir, name), content);
  }
  for (const name of others) {
    await mkdir(join(root, name.endsWith('/') ? name : dirname(name)), { recursive: true });
    if (!name.endsWith('/')) await writeFile(join(root, name), '');
  }
  return {
    root,
    configDir,
    paths: resolvePaths({ JACKIN_CONFIG_DIR: configDir, JACKIN_HOME_DIR: join(root, 'state') }),
    load: () => loadConfig({ configDir }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
