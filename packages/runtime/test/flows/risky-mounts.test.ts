import { mkdir, mkdtemp, realpath, rename, rm, symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isReservedDestination } from '../../src/decide/reserved-destination.ts';
import { mountRisks } from '../../src/flows/risky-mounts.ts';

let root: string;
let server: Server | null;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'jk-risk-')));
  server = null;
  for (const dir of ['home/op/src/app', 'home/op/.ssh', 'home/op/.jackin/data', 'run', 'elsewhere']) {
    await mkdir(join(root, dir), { recursive: true });
  }
});
afterEach(async () => {
  server?.close();
  await rm(root, { recursive: true });
});

const at = (path: string) => join(root, path);
const risksOf = (path: string) =>
  mountRisks(
    { src: at(path) },
    {
      paths: { homeDir: at('home/op/.jackin'), configDir: at('home/op/.config/jackin') },
      home: at('home/op'),
      engineSockets: [at('run/engine.sock')],
    },
  );

async function engine(): Promise<void> {
  server = createServer();
  await new Promise<void>((resolve) => server?.listen(at('run/engine.sock'), resolve));
}

describe('what a mount would give away', () => {
  test.each(['home/op/src/app', 'home/op/src', 'elsewhere', 'run'])('%s is a usual one', async (path) => {
    expect(await risksOf(path)).toEqual([]);
  });

  test.each([
    ['home/op/.ssh', [/credentials \(\.ssh\)/]],
    ['home/op', [/credentials \(\.ssh\)/, /jackin keeps in \S+\.jackin/]],
    ['home', [/credentials \(\.ssh\)/, /jackin keeps/]],
    ['home/op/.jackin', [/jackin keeps/]],
    ['home/op/.jackin/data', [/jackin keeps/]],
    ['home/op/.config/jackin', [/jackin keeps/]],
  ])('%s is asked about', async (path, words) => {
    const risks = await risksOf(path);
    expect(risks).toEqual(words.map((word) => expect.stringMatching(word)));
  });

  test.each(['run', 'run/engine.sock'])('an engine reached through %s is asked about', async (path) => {
    await engine();
    expect(await risksOf(path)).toEqual([expect.stringMatching(/leads to a container engine/)]);
  });
});

describe('by way of links', () => {
  test('a link to a credential store, to the files of jackin or to the home is asked about', async () => {
    await symlink(at('home/op/.ssh'), at('elsewhere/keys'));
    await symlink(at('home/op/.jackin'), at('elsewhere/state'));
    await symlink(at('home'), at('elsewhere/everybody'));
    expect(await risksOf('elsewhere/keys')).toEqual([expect.stringMatching(/credentials/)]);
    expect(await risksOf('elsewhere/state')).toEqual([expect.stringMatching(/jackin keeps/)]);
    expect(await risksOf('elsewhere/everybody')).toHaveLength(2);
  });

  test('a store that is a link is found where it leads', async () => {
    await mkdir(at('dotfiles/aws'), { recursive: true });
    await symlink(at('dotfiles/aws'), at('home/op/.aws'));
    for (const path of ['dotfiles', 'dotfiles/aws']) {
      expect(await risksOf(path)).toEqual([expect.stringMatching(/credentials \(\.aws\)/)]);
    }
  });

  test('a home that is a link is found where it leads', async () => {
    await rename(at('home/op'), at('home/real'));
    await symlink(at('home/real'), at('home/op'));
    expect(await risksOf('home/real')).toEqual([
      expect.stringMatching(/credentials/),
      expect.stringMatching(/jackin keeps/),
    ]);
  });
});

test.each([
  '/',
  '/jackin',
  '/jackin/run',
  '/a/../jackin/state',
  '/home/agent',
  '/home/agent/',
  '/proc',
  '/dev/shm',
  '/sys/fs',
])('nothing is mounted at %s', (dst) => {
  expect(isReservedDestination(dst)).toBe(true);
});

test.each(['/workspace', '/home/agent/work', '/jackin2', '/process', '/srv/proc'])('%s is free', (dst) => {
  expect(isReservedDestination(dst)).toBe(false);
});
