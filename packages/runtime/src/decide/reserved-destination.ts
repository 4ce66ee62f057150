import { posix } from 'node:path';

/** Where the container has its own files, or ours. */
const RESERVED_TREES = ['/jackin', '/proc', '/sys', '/dev'];
const RESERVED = ['/', '/home/agent'];

/** Whether nothing of the operator's can be mounted at `dst` in a container. */
export function isReservedDestination(dst: string): boolean {
  const path = posix.normalize(dst).replace(/(.)\/+$/, '$1');
  return (
    RESERVED.includes(path) || RESERVED_TREES.some((tree) => path === tree || path.startsWith(`${tree}/`))
  );
}
