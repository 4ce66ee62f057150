import { memoryBytes } from '@jackin/runtime';
import { Errors, Flags } from '@oclif/core';

/** `512m`, `2g`, `1.5GiB`, or plain bytes, as bytes. */
export const memoryFlag = Flags.custom<number>({
  parse: async (text) => {
    const bytes = memoryBytes(text);
    if (bytes === null) {
      throw new Errors.CLIError(`${JSON.stringify(text)} is not an amount of memory such as 512m or 2g.`);
    }
    return bytes;
  },
});

/** A number above 0. */
export const positiveNumber = Flags.custom<number>({
  parse: async (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
      throw new Errors.CLIError(`${JSON.stringify(text)} is not a number above 0.`);
    }
    return value;
  },
});

/** A whole number above 0. */
export const wholeNumber = Flags.custom<number>({
  parse: async (text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value <= 0) {
      throw new Errors.CLIError(`${JSON.stringify(text)} is not a whole number above 0.`);
    }
    return value;
  },
});
