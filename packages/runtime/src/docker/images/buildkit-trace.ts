/** What a BuildKit progress message says, as far as an operator wants to read it. */
export interface BuildkitTrace {
  /** A step that has begun or ended: `[stage-0 2/3] RUN make`. */
  steps: { id: string; name: string; state: 'started' | 'done' | 'cached' | 'failed' }[];
  /** Output of the steps. */
  output: string;
}

/**
 * Decodes one `moby.buildkit.trace` (base64 of a protobuf StatusResponse). The library that comes with the client reads
 * its schema from a file beside itself, which a bundle does not have; five fields need no library. What cannot be
 * decoded says nothing.
 */
export function decodeBuildkitTrace(base64: string): BuildkitTrace {
  const steps: BuildkitTrace['steps'] = [];
  const output: Buffer[] = [];
  for (const { field, bytes } of fieldsOf(Buffer.from(base64, 'base64'))) {
    if (bytes === null) continue;
    if (field === 1) steps.push(...stepOf(bytes));
    if (field === 3)
      output.push(...fieldsOf(bytes).flatMap((log) => (log.field === 4 && log.bytes ? [log.bytes] : [])));
  }
  return { steps, output: Buffer.concat(output).toString('utf8') };
}

function stepOf(bytes: Buffer): BuildkitTrace['steps'] {
  const fields = fieldsOf(bytes);
  const text = (number: number) =>
    fields.find(({ field }) => field === number)?.bytes?.toString('utf8') ?? '';
  const has = (number: number) => fields.some(({ field }) => field === number);
  const [id, name] = [text(1), text(3)];
  // What is ended because another step failed is not what failed.
  if (text(7) !== '') return text(7).includes('context canceled') ? [] : [{ id, name, state: 'failed' }];
  if (has(4) && fields.some(({ field, value }) => field === 4 && value === 1))
    return [{ id, name, state: 'cached' }];
  if (has(6)) return [{ id, name, state: 'done' }];
  return has(5) ? [{ id, name, state: 'started' }] : [];
}

interface Field {
  field: number;
  /** Of a length-delimited field. */
  bytes: Buffer | null;
  /** Of a number. */
  value: number | null;
}

function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; at < message.length; scale *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return value;
  };
  while (at < message.length) {
    const tag = number();
    const [field, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) fields.push({ field, bytes: null, value: number() });
    else if (wire === 2) {
      const length = number();
      fields.push({ field, bytes: message.subarray(at, at + length), value: null });
      at += length;
    } else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else return fields;
  }
  return fields;
}
