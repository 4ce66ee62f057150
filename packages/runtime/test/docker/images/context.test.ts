import { spawnSync } from 'node:child_process';
import { chmod, chown, lchown, mkdir, rename, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import tar from 'tar-stream';
import type { ContextEntry } from '../../../src/docker/images/context.ts';
import { type ContextInput, contentHash, contextHash } from '../../../src/docker/images/context-hash.ts';
import { contextTar } from '../../../src/docker/images/context-tar.ts';
import { describeImage } from '../../../src/docker/images/index.ts';
import { refusal, scratch, writeRole } from './support.ts';

let dir: string;
let dispose: () => Promise<void>;

beforeEach(async () => {
  ({ dir, dispose } = await scratch());
});
afterEach(() => dispose());

const describeRole = (
  over: { uid?: number; args?: Record<string, string>; roleKey?: string; commit?: string } = {},
) =>
  describeImage({
    roleDir: dir,
    roleKey: over.roleKey ?? 'mine',
    user: { uid: over.uid ?? 1000, gid: 1000 },
    args: over.args ?? {},
    commit: over.commit ?? null,
  });
const hashOf = async (over = {}) => (await describeRole(over)).context_hash;

async function sampleRole(): Promise<void> {
  await writeRole(dir, {
    Dockerfile: 'FROM debian:bookworm-slim\nCOPY . /src\n',
    'files/a.sh': 'echo a\n',
    b: 'b',
  });
  await mkdir(join(dir, 'empty'));
  await symlink('files/a.sh', join(dir, 'link'));
}

describe('the hash of a context', () => {
  it('is the same for the same directory, whenever it was written and read', async () => {
    await sampleRole();
    const before = await describeRole();
    await utimes(join(dir, 'b'), 1, 1);
    expect(await describeRole()).toEqual(before);
  });

  it.each<[string, () => Promise<void>]>([
    ['a byte', () => writeFile(join(dir, 'b'), 'c')],
    ['an added byte', () => writeFile(join(dir, 'b'), 'b\n')],
    ['a mode', () => chmod(join(dir, 'files/a.sh'), 0o755)],
    ['a special mode bit', () => chmod(join(dir, 'b'), 0o4644)],
    ['the mode of a directory', () => chmod(join(dir, 'empty'), 0o700)],
    [
      'a link target',
      async () => {
        await unlink(join(dir, 'link'));
        await symlink('b', join(dir, 'link'));
      },
    ],
    [
      'a link for a file of its content',
      async () => {
        await unlink(join(dir, 'link'));
        await writeFile(join(dir, 'link'), 'files/a.sh');
      },
    ],
    ['a name', () => rename(join(dir, 'b'), join(dir, 'c'))],
    ['an empty directory', () => mkdir(join(dir, 'other'))],
    ['the Dockerfile', () => writeFile(join(dir, 'Dockerfile'), 'FROM debian:bookworm-slim\nCOPY . /dst\n')],
  ])('changes with %s', async (_, change) => {
    await sampleRole();
    const before = await describeRole();
    await change();
    const after = await describeRole();
    expect(after.context_hash).not.toBe(before.context_hash);
    expect(after.content_hash).not.toBe(before.content_hash);
    expect(after.image_tag).not.toBe(before.image_tag);
  });

  it('changes with the owner of a file, and of a link', async () => {
    await sampleRole();
    const own = process.getuid?.() ?? 0;
    // Only root may give files away; another group of ours would do, and there need not be one.
    if (own !== 0) return expect(own).not.toBe(0);
    const hashes = [await hashOf()];
    await chown(join(dir, 'b'), 1234, 0);
    hashes.push(await hashOf());
    await chown(join(dir, 'b'), 1234, 1234);
    hashes.push(await hashOf());
    await lchown(join(dir, 'link'), 1234, 0);
    hashes.push(await hashOf());
    expect(new Set(hashes).size).toBe(4);
  });

  it('changes with user, arguments and role key, and the content hash does not', async () => {
    await sampleRole();
    const all = await Promise.all([
      describeRole(),
      describeRole({ uid: 1001 }),
      describeRole({ args: { A: '1' } }),
      describeRole({ args: { A: '2' } }),
      describeRole({ roleKey: 'other' }),
    ]);
    expect(new Set(all.map(({ context_hash }) => context_hash)).size).toBe(all.length);
    expect(new Set(all.map(({ content_hash }) => content_hash)).size).toBe(1);
  });

  it('knows nothing of what .dockerignore leaves out, but for manifest and Dockerfile', async () => {
    await writeRole(dir, {
      Dockerfile: 'FROM debian:bookworm-slim\n',
      '.dockerignore': '*\n!keep\n!sub/kept\n',
      keep: 'k',
      'sub/kept': 'k',
      'sub/left': 'l',
      left: 'l',
    });
    const { context, context_hash: before } = await describeRole();
    expect(context.entries.map(({ path }) => path)).toEqual([
      '.dockerignore',
      'Dockerfile',
      'keep',
      'sub/kept',
    ]);
    await writeFile(join(dir, 'sub/left'), 'other');
    expect(spawnSync('mkfifo', [join(dir, 'fifo')]).status).toBe(0);
    expect(await hashOf()).toBe(before);
    await writeFile(join(dir, 'sub/kept'), 'other');
    expect(await hashOf()).not.toBe(before);
  });

  it('has the image name and the first digits as its tag', async () => {
    await sampleRole();
    const { context_hash: hash, image_tag: tag } = await describeRole({ roleKey: 'ChainArgos/agent-brown' });
    expect(tag).toBe(`jk_chainargos_agent-brown:${hash.slice(0, 12)}`);
    const commit = 'abcdef0123456789abcdef0123456789abcdef01';
    const pinned = await describeRole({ roleKey: 'ChainArgos/agent-brown', commit });
    expect(pinned).toMatchObject({ image_tag: 'jk_chainargos_agent-brown:abcdef0', context_hash: hash });
    expect((await refusal(describeRole({ roleKey: 'no "key"' }))).code).toBe('ROLE_INVALID');
  });
});

describe('a context that cannot be sent', () => {
  it('names sockets and FIFOs', async () => {
    await sampleRole();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(dir, 'files/s'), resolve));
    const socket = await refusal(describeRole());
    await new Promise((resolve) => server.close(resolve));
    expect(socket.message).toContain(`${join(dir, 'files/s')}: is a socket`);
    expect(spawnSync('mkfifo', [join(dir, 'pipe')]).status).toBe(0);
    expect((await refusal(describeRole())).message).toContain(`${join(dir, 'pipe')}: is a FIFO`);
  });

  it('never follows a link, whatever it leads to', async () => {
    await sampleRole();
    await symlink('/', join(dir, 'root'));
    await symlink('.', join(dir, 'self'));
    await symlink('nowhere', join(dir, 'dangling'));
    const { context } = await describeRole();
    expect(context.entries.filter(({ type }) => type === 'symlink').map(({ path }) => path)).toEqual([
      'dangling',
      'link',
      'root',
      'self',
    ]);
  });

  it('names a file name that is no text', async () => {
    await sampleRole();
    await writeFile(Buffer.concat([Buffer.from(`${dir}/x`), Buffer.from([0xff])]), '');
    expect((await refusal(describeRole())).message).toContain('is not valid UTF-8');
  });
});

describe('the archive of a context', () => {
  const archiveOf = async () => {
    const image = await describeRole();
    return buffer(
      contextTar({ ...image.context, dockerfile: image.dockerfile_path, dockerfileText: image.dockerfile }),
    );
  };

  it('is the same bytes for the same content', async () => {
    await sampleRole();
    await writeFile(join(dir, `${'long-'.repeat(40)}ümlaut`), 'x'.repeat(1_000_000));
    const first = await archiveOf();
    await utimes(join(dir, 'b'), 1, 1);
    expect(first.equals(await archiveOf())).toBe(true);
  });

  it('holds exactly what was hashed, and the Dockerfile that is built', async () => {
    await sampleRole();
    await chmod(join(dir, 'files/a.sh'), 0o751);
    const image = await describeRole();
    const extract = tar.extract();
    const found: [string, string | undefined, number | undefined, string | null | undefined, string][] = [];
    extract.end(await archiveOf());
    for await (const entry of extract) {
      const { name, type, mode, linkname } = entry.header;
      found.push([name, type, mode, linkname, (await buffer(entry as AsyncIterable<Buffer>)).toString()]);
    }
    expect(found.map(([name]) => name.replace(/\/$/, ''))).toEqual(
      image.context.entries.map(({ path }) => path),
    );
    expect(found).toContainEqual(['files/a.sh', 'file', 0o751, null, 'echo a\n']);
    expect(found).toContainEqual(['link', 'symlink', expect.any(Number), 'files/a.sh', '']);
    expect(found.find(([name]) => name === 'Dockerfile')?.[4]).toBe(image.dockerfile);
  });

  it.each([
    ['other content of the same length', 'c'],
    ['more', 'bb'],
    ['less', ''],
  ])('breaks off when a file has %s by now', async (_, text) => {
    await sampleRole();
    const image = await describeRole();
    await writeFile(join(dir, 'b'), text);
    const stream = contextTar({
      ...image.context,
      dockerfile: image.dockerfile_path,
      dockerfileText: image.dockerfile,
    });
    expect((await refusal(buffer(stream))).code).toBe('ROLE_CHANGED');
  });
});

describe('the hash as a function', () => {
  const common = { mode: fc.integer({ min: 0, max: 0o7777 }), uid: fc.nat(), gid: fc.nat() };
  const text = fc.string({ minLength: 1, maxLength: 6 });
  const entry: fc.Arbitrary<ContextEntry> = fc.oneof(
    fc.record({ ...common, path: text, type: fc.constant('directory' as const) }),
    fc.record({ ...common, path: text, type: fc.constant('symlink' as const), target: text }),
    fc.record({ ...common, path: text, type: fc.constant('file' as const), size: fc.nat(), digest: text }),
  );
  const input: fc.Arbitrary<ContextInput> = fc.record({
    entries: fc.uniqueArray(entry, { minLength: 1, maxLength: 6, selector: ({ path }) => path }),
    dockerfile: text,
    dockerfileText: text,
    manifestText: text,
    derived: text,
    args: fc.dictionary(text, text),
    roleKey: text,
  });

  it('does not depend on the order in which a directory is read', () => {
    fc.assert(
      fc.property(input, fc.infiniteStream(fc.nat()), (value, order) => {
        const shuffled = value.entries
          .map((one) => ({ one, at: order.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ one }) => one);
        expect(contextHash({ ...value, entries: shuffled })).toBe(contextHash(value));
        expect(contentHash({ ...value, entries: shuffled })).toBe(contentHash(value));
      }),
    );
  });

  it('is different for every two different inputs', () => {
    const canonical = (value: ContextInput) =>
      JSON.stringify([
        [...value.entries]
          .sort((a, b) => (a.path < b.path ? -1 : 1))
          .map((one) => Object.entries(one).sort()),
        value.dockerfile,
        value.dockerfileText,
        value.manifestText,
        value.derived,
        Object.entries(value.args).sort(),
        value.roleKey,
      ]);
    fc.assert(
      fc.property(input, input, (a, b) => {
        expect(contextHash(a) === contextHash(b)).toBe(canonical(a) === canonical(b));
      }),
    );
  });

  it('changes with any single field of any entry', () => {
    fc.assert(
      fc.property(input, fc.nat(), fc.nat(), (value, at, field) => {
        const index = at % value.entries.length;
        const fields = Object.entries(value.entries[index] ?? {}).filter(([name]) => name !== 'type');
        const [name, old] = fields[field % fields.length] ?? ['', ''];
        const changed = typeof old === 'number' ? old + 1 : `${old}.`;
        fc.pre(name !== 'path' || !value.entries.some(({ path }) => path === changed));
        const entries = value.entries.map((one, i) => (i === index ? { ...one, [name]: changed } : one));
        expect(contextHash({ ...value, entries: entries as ContextEntry[] })).not.toBe(contextHash(value));
      }),
    );
  });
});
