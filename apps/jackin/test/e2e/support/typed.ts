import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../../../../', import.meta.url));

export interface TypedDocument {
  /** Of the door of @jackin/runtime. */
  type: string;
  value: unknown;
}

/**
 * What the compiler says against these documents as literals of their types; empty when each has exactly the fields of
 * its type. The types are the ones programs compile against, so there is no second description to keep true.
 */
export function typeErrors(directory: string, documents: TypedDocument[]): string {
  mkdirSync(directory, { recursive: true });
  const door = join(REPOSITORY, 'packages/runtime/src/index.ts');
  const names = [...new Set(documents.map(({ type }) => type))];
  const lines = documents.map(
    ({ type, value }, at) => `export const d${at}: ${type} = ${JSON.stringify(value)};`,
  );
  const [first] = documents;
  const wrong = { ...(first?.value as object), nobody_declared_this: true };
  writeFileSync(
    join(directory, 'documents.ts'),
    [
      `import type { ${names.join(', ')} } from ${JSON.stringify(door)};`,
      ...lines,
      // A check that cannot fail would be none.
      '// @ts-expect-error',
      `export const wrong: ${first?.type} = ${JSON.stringify(wrong)};`,
      '',
    ].join('\n'),
  );
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  const nothingToEmit = { composite: false, declaration: false, declarationMap: false, sourceMap: false };
  const typeRoots = [join(REPOSITORY, 'node_modules/@types')];
  const config = {
    extends: join(REPOSITORY, 'tsconfig.base.json'),
    compilerOptions: { ...nothingToEmit, noEmit: true, rewriteRelativeImportExtensions: false, typeRoots },
    files: ['documents.ts', join(REPOSITORY, 'packages/core/src/proper-lockfile.d.ts')],
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(REPOSITORY, 'node_modules/.bin/tsc');
  const { status, stdout, stderr, error } = spawnSync(tsc, ['-p', directory], { encoding: 'utf8' });
  if (error !== undefined) throw error;
  return status === 0 ? '' : `${stdout}${stderr}`;
}
