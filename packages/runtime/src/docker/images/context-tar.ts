import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import tar from 'tar-stream';
import { type ContextEntry, readContextFile } from './context.ts';
import { roleChanged } from './role-errors.ts';

export interface TarInput {
  dir: string;
  entries: readonly ContextEntry[];
  /** The entry whose content is replaced by `dockerfileText`. */
  dockerfile: string;
  dockerfileText: string;
}

/** The same content is the same archive, whenever it was written. */
const EPOCH = new Date(0);

/**
 * The build context as a stream: exactly the entries that were hashed. Every file is hashed again on its way; one
 * that is not what it was ends the stream with ROLE_CHANGED before the builder has all of it. Owners are left to the
 * builder, as the docker command does it: an engine with mapped users cannot create everyone's.
 */
export function contextTar(input: TarInput): Readable {
  const pack = tar.pack();
  const filled = fill(pack, input).catch((error: unknown) => {
    pack.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  const stream = Readable.from(pack, { objectMode: false });
  stream.once('close', () => {
    pack.destroy();
    void filled;
  });
  return stream;
}

async function fill(pack: tar.Pack, input: TarInput): Promise<void> {
  for (const entry of input.entries) {
    const header = { name: entry.path, mode: entry.mode, uid: 0, gid: 0, mtime: EPOCH };
    if (entry.path === input.dockerfile) {
      await whole(pack, { ...header, type: 'file' }, input.dockerfileText);
    } else if (entry.type === 'directory') {
      await whole(pack, { ...header, name: `${entry.path}/`, type: 'directory' });
    } else if (entry.type === 'symlink') {
      await whole(pack, { ...header, type: 'symlink', linkname: entry.target });
    } else {
      const sink = pack.entry({ ...header, type: 'file', size: entry.size });
      await pipeline(
        readContextFile(input.dir, entry.path, entry.size),
        sameAsBefore(input.dir, entry),
        sink,
      );
    }
  }
  pack.finalize();
}

type Header = Parameters<tar.Pack['entry']>[0];

function whole(pack: tar.Pack, header: Header, text?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve());
    if (text === undefined) pack.entry(header, done);
    else pack.entry(header, text, done);
  });
}

/** Holds the last bytes of a file back until the digest of all of it is right. */
function sameAsBefore(dir: string, entry: ContextEntry & { type: 'file' }): Transform {
  const hash = createHash('sha256');
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      const same = hash.digest('hex') === entry.digest;
      done(same ? null : roleChanged(dir, `${entry.path} has other content`));
    },
  });
}
