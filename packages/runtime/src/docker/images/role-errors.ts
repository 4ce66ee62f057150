import { JackinError } from '@jackin/core';

/** The directory is no longer what was looked at before. */
export function roleChanged(directory: string, what: string): JackinError {
  return new JackinError({
    code: 'ROLE_CHANGED',
    message: `The role in ${directory} changed while it was used: ${what}.`,
    hint: 'Run the same `jackin load` again: it takes the role as it is now.',
    details: { directory, what },
  });
}

/** The session is made of the role as it was when the session was prepared. */
export function roleDiffers(
  directory: string,
  { container_base: base, instance_id: id }: { container_base: string; instance_id: string },
): JackinError {
  return new JackinError({
    code: 'ROLE_CHANGED',
    message: `The role in ${directory} is not what ${base} was prepared with, so its image is not built from it.`,
    hint: `Start anew with the role as it is: jackin load --new - and remove this one with: jackin purge ${id}`,
    details: { directory },
  });
}
