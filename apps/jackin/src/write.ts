/** Writes and resolves when the system has taken it; a reader that is gone is not an error. */
export function writeAll(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (text === '' || stream.destroyed || !stream.writable) resolve();
    else stream.write(text, () => resolve());
  });
}
