import { editToml, parseToml } from '../document/index.ts';

/** The exit policy that removes has one word for clean and dirty ends (docs/configuration.md#exit-policy). */
export function discardIsClean(text: string): string {
  if (parseToml(text).dirty_exit_policy !== 'discard') return text;
  return editToml(text, [{ path: ['dirty_exit_policy'], set: 'clean' }]);
}
