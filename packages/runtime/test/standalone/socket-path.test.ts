import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  chooseSocket,
  expectedUid,
  SOCKET_PATH_MAX_BYTES,
  shortDirsOf,
} from '../../src/standalone/socket-path.ts';

const ID = 'k7p9m2xq';
const LONG = `/${'d'.repeat(SOCKET_PATH_MAX_BYTES)}/capsule.sock`;

describe('where the capsule of an instance listens', () => {
  it('is its own socket directory while the path can be connected', () => {
    const path = `/${'d'.repeat(SOCKET_PATH_MAX_BYTES - 1)}`;
    expect(chooseSocket(path, ID, {})).toEqual({ path, short: null });
    expect(chooseSocket(`${path}d`, ID, {}).short).not.toBeNull();
  });

  it('counts bytes, not characters', () => {
    expect(chooseSocket(`/${'é'.repeat(60)}`, ID, {}).short).not.toBeNull();
  });

  it("is below the login session's runtime directory when that one is ours", async () => {
    const runtimeDir = await mkdtemp(join(tmpdir(), 'jk-xdg-'));
    const choice = chooseSocket(LONG, ID, { XDG_RUNTIME_DIR: runtimeDir });
    await rm(runtimeDir, { recursive: true });
    expect(choice).toEqual({
      path: `${runtimeDir}/jackin/${ID}/capsule.sock`,
      short: { root: `${runtimeDir}/jackin`, dir: `${runtimeDir}/jackin/${ID}` },
    });
  });

  it('is below a temporary directory of our own otherwise', () => {
    const own = `jackin-${expectedUid()}/${ID}/capsule.sock`;
    expect(chooseSocket(LONG, ID, { XDG_RUNTIME_DIR: '/nowhere' }).path).toBe(`/tmp/${own}`);
    expect(chooseSocket(LONG, ID, { TMPDIR: '/var/tmp' }).path).toBe(`/var/tmp/${own}`);
    expect(chooseSocket(LONG, ID, { TMPDIR: LONG }).path).toBe(`/tmp/${own}`);
  });
});

describe('the short directories that may be removed with an instance', () => {
  const choice = chooseSocket('/short/capsule.sock', ID, {});

  it('include a recorded one that this backend chose in another environment', () => {
    expect(shortDirsOf(choice, `/run/user/7/jackin/${ID}/capsule.sock`, ID)).toEqual([
      { root: '/run/user/7/jackin', dir: `/run/user/7/jackin/${ID}` },
    ]);
  });

  it.each([
    '/home/me/capsule.sock',
    `/home/me/${ID}/capsule.sock`,
    '/run/user/7/jackin/other/capsule.sock',
    `jackin/${ID}/capsule.sock`,
    '/',
    '',
  ])('never include the directory of %j', (recorded) => {
    expect(shortDirsOf(choice, recorded, ID)).toEqual([]);
  });
});
