import { errorCode, JackinError } from '@jackin/core';

/**
 * Writes and resolves when the system has taken it; a reader that is gone is not an error.
 * @throws JackinError `OUTPUT_FAILED` when the text could not be put where the output goes, such as a full disk
 */
export function writeAll(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (text === '' || stream.destroyed || !stream.writable) return resolve();
    stream.write(text, (error) => {
      if (!error || readerGone(error)) resolve();
      else reject(outputFailed(error));
    });
  });
}

function readerGone(error: unknown): boolean {
  return ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED'].includes(errorCode(error) ?? '');
}

function outputFailed(error: Error): JackinError {
  return new JackinError({
    code: 'OUTPUT_FAILED',
    message: `The result could not be written to where the output goes: ${error.message}.`,
    hint: 'What the command did is done. Make room or choose another file, then look with: jackin status',
    cause: error,
  });
}
