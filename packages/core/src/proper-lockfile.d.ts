/** The part of proper-lockfile that is used here; the package has no types of its own. */
declare module 'proper-lockfile' {
  interface LockOptions {
    lockfilePath: string;
    realpath: boolean;
    stale: number;
    update: number;
    fs: object;
    onCompromised(error: Error): void;
  }
  const properLockfile: {
    /** Returns the function that releases. Throws with code `ELOCKED` when `lockfilePath` exists. */
    lockSync(file: string, options: LockOptions): () => void;
  };
  export default properLockfile;
}
