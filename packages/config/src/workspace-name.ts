/** Why a text cannot be the name of a workspace, which is the name of its file; null when it can. */
export function workspaceNameFault(name: string): string | null {
  if (name === '' || name !== name.trim()) return 'is empty or has space around it';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name is shown in lists
  if (/[/\\\u0000-\u001f\u007f]/.test(name)) return 'holds a character no file name should have';
  if (/^[.-]/.test(name)) return 'begins with a dot or a dash';
  if (Buffer.byteLength(name) > 200) return 'is longer than 200 bytes';
  return null;
}
