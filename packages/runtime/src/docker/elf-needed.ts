import { open } from 'node:fs/promises';

/** Entries of a dynamic section (System V ABI). */
const DT_NULL = 0n;
const DT_NEEDED = 1n;
const DT_STRTAB = 5n;
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const ELF64_LITTLE_ENDIAN = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const MAX_TABLE_BYTES = 1024 * 1024;
const MAX_NAME_BYTES = 256;

/**
 * The shared libraries a 64-bit little-endian ELF program asks for, as its dynamic section names them.
 * @returns null when it is no such program, or one that cannot be read
 */
export async function neededLibraries(path: string): Promise<string[] | null> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  try {
    const read = async (offset: bigint, length: number): Promise<Buffer> => {
      if (length > MAX_TABLE_BYTES) throw new RangeError('no table is that large');
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, Number(offset));
      return buffer.subarray(0, bytesRead);
    };
    const header = await read(0n, 64);
    if (!header.subarray(0, 6).equals(ELF64_LITTLE_ENDIAN)) return null;
    const segments = await programHeaders(header, read);
    const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
    if (dynamic === undefined) return [];
    const entries = dynamicEntries(await read(dynamic.offset, Number(dynamic.size)));
    const table = entries.find(({ tag }) => tag === DT_STRTAB);
    if (table === undefined) return null;
    const load = segments.find(
      ({ type, address, size }) => type === PT_LOAD && table.value >= address && table.value < address + size,
    );
    if (load === undefined) return null;
    const strings = load.offset + (table.value - load.address);
    const names = entries.filter(({ tag }) => tag === DT_NEEDED);
    return await Promise.all(
      names.map(async ({ value }) => {
        const bytes = await read(strings + value, MAX_NAME_BYTES);
        return bytes.subarray(0, bytes.indexOf(0)).toString('latin1');
      }),
    );
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

interface Segment {
  type: number;
  offset: bigint;
  address: bigint;
  size: bigint;
}

async function programHeaders(
  header: Buffer,
  read: (offset: bigint, length: number) => Promise<Buffer>,
): Promise<Segment[]> {
  const [offset, size, count] = [
    header.readBigUInt64LE(32),
    header.readUInt16LE(54),
    header.readUInt16LE(56),
  ];
  const table = await read(offset, size * count);
  return Array.from({ length: count }, (_, index) => {
    const at = index * size;
    return {
      type: table.readUInt32LE(at),
      offset: table.readBigUInt64LE(at + 8),
      address: table.readBigUInt64LE(at + 16),
      size: table.readBigUInt64LE(at + 32),
    };
  });
}

function dynamicEntries(section: Buffer): { tag: bigint; value: bigint }[] {
  const entries: { tag: bigint; value: bigint }[] = [];
  for (let at = 0; at + 16 <= section.length; at += 16) {
    const tag = section.readBigUInt64LE(at);
    if (tag === DT_NULL) break;
    entries.push({ tag, value: section.readBigUInt64LE(at + 8) });
  }
  return entries;
}
