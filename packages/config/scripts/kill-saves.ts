/** `node --conditions=@jackin/source packages/config/scripts/kill-saves.ts [500]`: kills an editor that often. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePaths } from '@jackin/core';
import { killDuringSaves } from '../test/support/kill-saves.ts';

const kills = Number(process.argv[2] ?? 500);
const root = mkdtempSync(join(tmpdir(), 'jackin-kill-saves-'));
try {
  const paths = resolvePaths({
    JACKIN_CONFIG_DIR: join(root, 'config'),
    JACKIN_HOME_DIR: join(root, 'state'),
  });
  mkdirSync(paths.configDir);
  writeFileSync(
    join(paths.configDir, 'config.toml'),
    '# kept\nversion = "v1alpha10"\n\n[env]\nA = "b" # kept, too\n',
  );
  const report = await killDuringSaves(paths, { kills, random: Math.random, pauseMs: 25 });
  process.stdout.write(`${JSON.stringify(report)}\n`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
