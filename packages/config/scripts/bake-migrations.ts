/**
 * Writes `after.toml` and `meta.toml` of every fixture in fixtures/migrations from its `before.toml`, which is written by
 * hand. Run it when the newest version moves, and read the difference.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type FileKind, migrateText } from '@jackin/config';

const root = fileURLToPath(new URL('../../../fixtures/migrations', import.meta.url));

for (const kind of ['config', 'workspace', 'manifest'] satisfies FileKind[]) {
  for (const name of readdirSync(`${root}/${kind}`)) {
    const dir = `${root}/${kind}/${name}`;
    const { text, from, to, steps } = migrateText(kind, readFileSync(`${dir}/before.toml`, 'utf8'), dir);
    writeFileSync(`${dir}/after.toml`, text);
    const summary = JSON.stringify(steps[0]?.summary ?? '');
    writeFileSync(
      `${dir}/meta.toml`,
      `from_version = "${from}"\ntarget_version = "${to}"\nsummary = ${summary}\n`,
    );
  }
}
