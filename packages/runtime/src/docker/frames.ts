/**
 * Reads the engine's framing of a container's output: 8 bytes (stream, 3 empty, length) and the payload. `take` gets
 * each part of a payload as it comes, so that nothing has to be collected. Calls `broken` once on anything else.
 */
export function createFrameReader(
  take: (stream: 'stdout' | 'stderr', bytes: Buffer) => void,
  broken: (reason: string) => void,
): (chunk: Buffer) => void {
  let header = Buffer.alloc(0);
  let stream: 'stdout' | 'stderr' = 'stdout';
  let missing = 0;
  let stopped = false;
  return (chunk) => {
    let rest = chunk;
    while (rest.length > 0 && !stopped) {
      if (missing > 0) {
        const part = rest.subarray(0, missing);
        missing -= part.length;
        rest = rest.subarray(part.length);
        take(stream, part);
        continue;
      }
      const lacking = HEADER_BYTES - header.length;
      header = Buffer.concat([header, rest.subarray(0, lacking)]);
      rest = rest.subarray(lacking);
      if (header.length < HEADER_BYTES) return;
      const kind = header[0];
      if (kind === undefined || kind > 2 || header[1] !== 0 || header[2] !== 0 || header[3] !== 0) {
        stopped = true;
        broken("what came is not the engine's framing of an output");
        return;
      }
      stream = kind === 2 ? 'stderr' : 'stdout';
      missing = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  };
}

const HEADER_BYTES = 8;
