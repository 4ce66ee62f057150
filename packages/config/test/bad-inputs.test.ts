import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JackinError } from '@jackin/core';
import { describe, expect, test } from '@jest/globals';
import { scratch } from './helpers.ts';
import { fileRows } from './support/bad-inputs/file-rows.ts';
import { type Row, USES } from './support/bad-inputs/row.ts';
import { ruleRows } from './support/bad-inputs/rule-rows.ts';
import { valueRows } from './support/bad-inputs/value-rows.ts';

const rows: Row[] = [...fileRows, ...valueRows, ...ruleRows];

test('the table has every kind of bad input, and many', () => {
  expect(new Set(rows.map(({ title }) => title)).size).toBeGreaterThanOrEqual(60);
});

describe.each(rows)('$title', (row) => {
  test.each(row.uses.map((use) => [typeof use === 'string' ? use : 'edit', use] as const))(
    '%s: is refused with file, key, line and fix, and the files stay as they are',
    async (_name, use) => {
      await using s = await scratch(filesOf(row, use === 'migrate'), ['dir/']);
      const before = snapshot(s.configDir);
      const act = typeof use === 'string' ? USES[use] : use;
      const error = (await act?.(s).then(
        () => null,
        (thrown: unknown) => thrown,
      )) as JackinError | null;
      expect(error).toMatchObject({ code: row.code ?? 'CONFIG_INVALID' });
      const file = join(
        s.configDir,
        (row.in ?? (row.config === undefined ? 'workspace' : 'config')) === 'config'
          ? 'config.toml'
          : 'workspaces/w.toml',
      );
      const { details = {}, message = '', hint = '' } = error ?? {};
      const [offender] = (details.offenders ?? []) as { file: string; key: string; line: number }[];
      const place = offender ?? details;
      expect({ file: place.file, key: place.key ?? 'version', line: place.line ?? null }).toEqual({
        file,
        key: row.key,
        line: row.line,
      });
      expect(message).toContain(file);
      if (row.line !== null) expect(message).toContain(`${file}:${row.line}`);
      expect(message).toMatch(row.says);
      expect(hint).toMatch(row.fix);
      expect(JSON.stringify(error)).not.toContain('hunter2');
      expect(snapshot(s.configDir)).toEqual(before);
    },
  );
});

/** Current files, so that nothing but the row's fault is in the way; old ones where there has to be something to do. */
function filesOf({ config, workspace }: Row, old: boolean): Record<string, string> {
  const current = (text: string, version: string) =>
    (/^\s*version\s*=/m.test(text) ? `# c\n${text}` : `version = "${version}"\n${text}`).replaceAll(
      '{dir}',
      '~/dir',
    );
  return {
    ...(config === undefined ? {} : { 'config.toml': current(config, old ? 'v1alpha9' : 'v1alpha10') }),
    ...(workspace === undefined
      ? {}
      : { 'workspaces/w.toml': current(workspace, old ? 'v1alpha8' : 'v1alpha9') }),
  };
}

function snapshot(directory: string): unknown {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.toml') || name.includes('tmp'))
    .sort()
    .map((name) => {
      const path = join(directory, name);
      const { mtimeMs, ino } = statSync(path);
      return [name, readFileSync(path, 'utf8'), mtimeMs, ino];
    });
}
