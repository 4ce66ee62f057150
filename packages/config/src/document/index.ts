export { editToml, lineOf } from './edit.ts';
export { extractTable } from './extract.ts';
export { keyText, literal } from './literal.ts';
export { parseToml } from './parse.ts';
export { stampVersion } from './stamp.ts';
export { isTable, type TomlEdit, type TomlPath, type TomlTable } from './types.ts';
