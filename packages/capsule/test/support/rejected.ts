import { JackinError } from '@jackin/core';
import { expect } from '@jest/globals';

/** The error a call fails with, which has to be one with a name. */
export const rejected = async (promise: Promise<unknown>): Promise<JackinError> => {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(JackinError);
  return error as JackinError;
};
