import { readdir, readFile, readlink } from 'node:fs/promises';
import { sep } from 'node:path';

/** A process of this machine and the name of its program. */
export interface WorkingProcess {
  pid: number;
  name: string;
}

/**
 * Processes whose working directory is `directory` or lies in it, as far as this user may see. Those whose environment
 * has `except` are left out, and so is this one. Only Linux can tell; elsewhere the list is empty.
 * @param directory canonical
 */
export async function processesWorkingIn(
  directory: string,
  except: { name: string; value: string },
): Promise<WorkingProcess[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc').catch(() => [])).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid): Promise<WorkingProcess[]> => {
      const cwd = pid === process.pid ? null : await readlink(`/proc/${pid}/cwd`).catch(() => null);
      if (cwd === null || !(cwd === directory || cwd.startsWith(directory + sep))) return [];
      const [environ, name] = await Promise.all(
        ['environ', 'comm'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
      );
      const own = environ?.split('\0').includes(`${except.name}=${except.value}`) === true;
      return own ? [] : [{ pid, name: name?.trim() ?? '' }];
    }),
  );
  return found.flat();
}
